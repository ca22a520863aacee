"""What belongs to gradients."""
