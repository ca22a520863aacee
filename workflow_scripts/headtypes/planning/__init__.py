"""What rules and commands need: the configuration, the plan, resources, the hash of code, provenance."""
