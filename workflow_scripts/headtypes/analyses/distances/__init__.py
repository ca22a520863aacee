"""What is read of attention: how far, and at which special tokens, a head looks."""
