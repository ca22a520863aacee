"""What belongs to surface."""
