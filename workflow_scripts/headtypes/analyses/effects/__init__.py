"""What leaving out each head costs, and any set of heads: a regression over sets drawn at random."""
