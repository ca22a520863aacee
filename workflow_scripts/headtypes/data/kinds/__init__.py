"""Kinds of task, one module each."""
