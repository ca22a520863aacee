"""What rules and commands need: configuration, plan, stages, digest, provenance, resources, locks."""
