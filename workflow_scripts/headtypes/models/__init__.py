"""Models: where they come from, loading them, which architectures are supported, which GPU a process uses."""
