"""The claims of the paper, and the quantities that they ask for."""
