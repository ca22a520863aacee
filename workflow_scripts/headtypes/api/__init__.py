"""What to call from one's own Python, on a model that is already loaded."""
