"""The configuration: what each key may hold, and one sentence for what cannot be."""
