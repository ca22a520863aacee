"""The configuration: what each key may hold, and one sentence for whatever it may not."""
