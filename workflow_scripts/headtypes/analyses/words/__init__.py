"""Single heads and language: dependency relations and coreference (Clark et al. 2019, section 4)."""
