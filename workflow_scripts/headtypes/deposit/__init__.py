"""What is given away with a paper: results that may be, a card that says what was found, and what made them."""
