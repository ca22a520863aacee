"""How many heads are aligned; planning reads it too, without what computes."""

# Their distances take 8 bytes for every two of them, twice, which is 7.2 GB for so many.
MOST_HEADS = 30_000
