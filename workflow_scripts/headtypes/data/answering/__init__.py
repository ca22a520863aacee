"""Answering: what a model reads of a task, what it should answer and does answer, and how good that is."""
