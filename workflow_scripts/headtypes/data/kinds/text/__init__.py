"""Documents of paragraphs, read two paragraphs at a time."""
