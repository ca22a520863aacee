"""Text: the tokens that a language model is to predict, and what its predictions cost."""
