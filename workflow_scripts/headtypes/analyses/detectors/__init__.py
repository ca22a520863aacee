"""Which heads attend by position, or to tokens that have stood before, tested against nulls."""
