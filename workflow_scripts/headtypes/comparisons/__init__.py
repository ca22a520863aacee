"""Types beside random heads in every analysis; models beside models."""
