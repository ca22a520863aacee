"""Measurements on heads: a file or a folder for each analysis."""
