"""What is measured on heads: a folder for each analysis."""
