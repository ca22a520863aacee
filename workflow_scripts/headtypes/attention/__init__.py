"""A model's attention while it runs: the hook into Transformers, batches, the one pass with its reducers, maps."""
