"""What a model answers while heads are taken away or changed."""
