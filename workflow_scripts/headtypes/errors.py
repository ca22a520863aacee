"""The error that a user can mend."""


class InputError(Exception):
    """Something the user gave cannot be used.

    The message is one sentence (or a few) that names the file or key, says what is wrong with it and what to
    do. It reaches the user as it is, without a traceback.
    """


def one_line(error: Exception) -> str:
    """What a library says of an error, on one line of some length and without the last period."""
    text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return text if len(text) <= 300 else f"{text[:300]}…"
