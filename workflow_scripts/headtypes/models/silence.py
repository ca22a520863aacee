"""Transformers without its own messages: what a user should know is said in sentences of ours."""

from transformers.utils import logging


def silence_transformers() -> None:
    """Leave out load reports, which reach the user as one sentence, and bars of seconds, which only fill the log."""
    logging.disable_progress_bar()
    logging.set_verbosity_error()
