"""Sentence pairs: how a model reads them, their labels, and scores as in GLUE."""
