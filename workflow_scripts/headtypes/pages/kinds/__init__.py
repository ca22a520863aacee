"""Kinds of heads over models, as a page."""
