"""For rules and commands: the configuration, the plan, resources, the hash of code, provenance."""
