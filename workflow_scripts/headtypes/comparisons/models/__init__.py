"""What belongs to models."""
