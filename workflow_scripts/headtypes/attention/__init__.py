"""Attention while a model runs: the hook into Transformers, batches, blocks of rows, and whole maps."""
