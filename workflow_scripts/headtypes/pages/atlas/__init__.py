"""The pages that a reader opens."""
