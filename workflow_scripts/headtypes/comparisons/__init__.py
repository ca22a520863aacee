"""Types beside random heads; models beside models."""
