"""What Snakemake's rules need: the plan, their parameters and resources, jobs, locks and provenance."""
