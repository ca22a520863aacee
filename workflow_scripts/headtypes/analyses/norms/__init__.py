"""Weights and norms side by side: what heads look at, and how they are divided, by either."""
