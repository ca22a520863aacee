"""Whole attention maps of a few short samples, to be looked at."""
