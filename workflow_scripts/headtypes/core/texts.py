"""Texts: the encoding of users' files, the header of a table, and names as words."""

import codecs
import re
from collections import Counter
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from headtypes.core.errors import InputError


def text_of(path: str | PathLike) -> str:
    """Read the text of a user's file, without a byte-order mark, lines ended by newlines.

    Raises `InputError` as `not_utf8`.
    """
    content = Path(path).read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(content, path, content.count(b"\n", 0, error.start) + 1) from error


def not_utf8(content: bytes, path: str | PathLike, line: int) -> InputError:
    """Make the error for a user's file, or a line of it, that is not UTF-8, or no text at all."""
    # UTF-16, which has NULs too, begins with a mark.
    if b"\0" in content and not content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return InputError(f"{path} is packed, or no text; unpack it, or save it as text in UTF-8.")
    return InputError(f"{path}, line {line} is not UTF-8 text; save the file as UTF-8.")


def separator_of(header: str) -> str:
    """Return the separator of a table of the user's: a comma, or a semicolon or tab of which its first line has
    more.
    """
    return max(",;\t", key=header.count)


def check_header(names: Iterable[str], where: Any) -> None:
    """Raise `InputError` where two columns have one name, since readers differ in which they take.

    names: without white space around them; unnamed columns do not count. where: the file.
    """
    twice = next((name for name, number in Counter(names).items() if name and number > 1), None)
    if twice is not None:
        raise InputError(f"{where} has more than one column {twice}; rename or remove all but one of them.")


def spelled_out(kind: type) -> str:
    """Write the name of a class as words in lower case: `ArcGuesses` is "arc guesses"."""
    return re.sub("(?<=[a-z])(?=[A-Z])", " ", kind.__name__).lower()
