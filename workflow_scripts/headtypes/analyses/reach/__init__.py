"""Lists of heads in the formats of other programs."""
