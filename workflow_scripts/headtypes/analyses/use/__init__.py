"""Whether a head that finds a relation is used for it: the loss without the attention by which it finds it."""
