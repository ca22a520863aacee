"""The Hugging Face Hub: models and data sets fetched from it."""
