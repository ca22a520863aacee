"""What belongs to divergence."""
