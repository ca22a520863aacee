"""Tasks: reading data, drawing samples and questions, and encoding them."""
