"""Sections 4 and 5 of Clark et al. 2019: dependency relations, coreference and probes."""
