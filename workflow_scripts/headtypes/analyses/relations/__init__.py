"""Dependency relations: every head's guesses, the relations they are scored on, and fixed offsets (section 4.2)."""
