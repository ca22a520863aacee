"""The pages that a reader opens: the summary of all results, and the atlas of each model."""
