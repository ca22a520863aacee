"""What comes out of heads: how much each writes into the residual stream, and where."""
