"""The pages that a reader opens: every head of a model, and the summary of all results."""
