"""What single heads know of language: dependency relations, coreference, and probes (Clark et al. 2019)."""
