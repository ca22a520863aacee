"""Treebanks: sentences whose words have heads, read from CoNLL-U."""
