"""The error that a user can mend."""

import difflib
from collections.abc import Iterable


class InputError(Exception):
    """Something the user gave cannot be used.

    The message is one sentence (or a few) that names the file or key, says what is wrong with it and what to
    do. It reaches the user as it is, without a traceback.
    """


def one_line(error: Exception) -> str:
    """What a library says of an error, on one line of some length and without the last period."""
    text = " ".join(str(error).split()).rstrip(".") or type(error).__name__
    return text if len(text) <= 300 else f"{text[:300]}…"


def nearest(name: str, allowed: Iterable[str]) -> str:
    """Return ` Did you mean "…"?` for the closest of `allowed`, or nothing where none is close."""
    close = difflib.get_close_matches(name, list(allowed), n=1, cutoff=0.6)
    return f' Did you mean "{close[0]}"?' if close else ""
