"""Errors, files, tables on disk, seeds, progress, statistics: what every room needs."""
