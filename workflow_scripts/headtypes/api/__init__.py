"""Functions for one's own Python, on a model that is already loaded."""
