"""The configuration: what each key may hold, and one sentence that reports anything else."""
