"""Questions about contexts, in the form of SQuAD v1.1, answered by a span of the context."""
