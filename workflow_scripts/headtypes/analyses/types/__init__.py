"""Types of heads: clustering, naming, partitions, stability, confidence, and the choice of a number of types."""
