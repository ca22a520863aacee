"""Questions about contexts: their windows, the best span in these, and scores as in SQuAD v1.1."""
