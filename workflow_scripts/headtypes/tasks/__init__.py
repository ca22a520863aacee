"""Tasks: reading data, drawing samples and questions, encoding them, and scoring a model's answers."""
