"""The page with every head of a model, which also shows a text that somebody types."""
