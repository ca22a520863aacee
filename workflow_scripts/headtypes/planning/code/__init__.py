"""Which code a job runs: what its script reaches, the digest of that, and that what runs is what was planned."""
