"""Pairs of sentences with a label: paraphrase, entailment and the like, as GLUE has them."""
