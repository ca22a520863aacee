"""One model over its training: what its heads do at each checkpoint, and since when."""
