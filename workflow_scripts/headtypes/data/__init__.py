"""Data: kinds of task, samples and questions, how they are encoded."""
