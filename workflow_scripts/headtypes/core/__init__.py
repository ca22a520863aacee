"""Errors, files, tables on disk, seeds, progress, statistics, style of figures: what every room needs."""
