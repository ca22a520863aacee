"""The Python that runs the tests."""

import sys


def python() -> str:
    """Its program."""
    return sys.executable
