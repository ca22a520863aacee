"""Documents of paragraphs, read two paragraphs at a time; nothing is asked about them."""
