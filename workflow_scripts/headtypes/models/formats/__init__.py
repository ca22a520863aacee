"""Weights that are stored in formats of their own: files in GGUF, and quantised weights."""
