"""Multiple choice: how likely a language model finds each answer, and which it finds likeliest."""
