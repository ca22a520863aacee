"""Silences Transformers; whatever the user should know is in our own messages."""

from transformers.utils import logging


def silence_transformers() -> None:
    """Suppress load reports, which the user gets as one sentence, and short progress bars, which only fill the log."""
    logging.disable_progress_bar()
    logging.set_verbosity_error()
