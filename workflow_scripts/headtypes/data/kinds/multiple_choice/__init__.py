"""Questions with choices, one of which is right, as benchmarks of language models have them."""
