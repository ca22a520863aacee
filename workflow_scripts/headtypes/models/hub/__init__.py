"""The Hugging Face Hub: models and data sets fetched from it, and its refusals told in sentences."""
