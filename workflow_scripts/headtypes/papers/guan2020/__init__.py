"""Guan et al., "How Far Does BERT Look At" (COLING 2020)."""
