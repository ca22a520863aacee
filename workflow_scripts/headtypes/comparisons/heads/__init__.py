"""Heads of several models, aligned by what they do."""
