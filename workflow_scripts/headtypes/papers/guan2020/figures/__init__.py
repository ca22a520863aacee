"""The figures of the paper, with our heads in them."""
