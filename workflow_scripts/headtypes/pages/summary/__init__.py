"""One page of all results: the answer first, then tables, figures and files."""
