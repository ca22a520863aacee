"""The error that a user can fix."""

import difflib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_LONGEST = 2000  # characters of a message


class InputError(Exception):
    """An error that the user can fix; its message, one line, names the file or key, the mistake, and what to do."""

    def __init__(self, message: str):
        line = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in message)
        half = _LONGEST // 2
        super().__init__(line if len(line) <= _LONGEST else f"{line[:half]}…{line[-half:]}")


@contextmanager
def told(beginning: str) -> Iterator[None]:
    """Turn any `Exception` of the `with` block into the `InputError` "{beginning}: {error}."; an `InputError` stays."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # Each package, class and format fails in its own ways.
        raise InputError(f"{beginning}: {one_line(error)}.") from error


def one_line(error: BaseException) -> str:
    """Return an error's message as one line, cut after 300 characters; its class name if it has no message."""
    return shortened(" ".join(str(error).split()).rstrip(".") or type(error).__name__)


def shortened(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:300]}…"


def nearest(name: str, allowed: Iterable[str]) -> str:
    """Return ` Did you mean "…"?` with the allowed name most similar to `name`; "" if no allowed name is similar."""
    known = list(allowed)
    close = [candidate for candidate in known if candidate.casefold() == name.casefold()]
    close += difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f' Did you mean "{close[0]}"?' if close else ""


def spelled_out(kind: type) -> str:
    """Return the name of a class as words in lower case: "arc guesses" for `ArcGuesses`."""
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", kind.__name__).lower()
