"""What belongs to kinds."""
