"""What the commands beside the workflow need: the jobs of a plan, what would run, and what is on disk."""
