"""Coreference: mentions, every head's guesses at their antecedents, and baselines (section 4.3)."""
