"""How figures look, and the figures that belong to no paper."""
