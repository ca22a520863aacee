"""What the documentation lists of what is declared."""
