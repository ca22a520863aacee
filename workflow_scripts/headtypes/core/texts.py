"""Text of users that cannot be stored, such as ids that HDF5 would cut off, and columns that no name tells apart."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

from headtypes.core.errors import InputError


def check_text(text: str, what: str) -> str:
    """Return a text; `InputError` for half of a character, which JSON can name; what: the text, for the message."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} is not valid Unicode text: character {error.start + 1} is half of a surrogate pair; correct it."
        ) from error
    return text


def text_of(path: str | PathLike) -> str:
    """The text of a user's file, without a byte-order mark, lines ended by newlines.

    Raises `InputError` with the line that is not UTF-8.
    """
    content = Path(path).read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line} is not UTF-8 text; save the file as UTF-8.") from error


def separator_of(header: str) -> str:
    """What separates the columns of a table of the user's: a comma, or what its first line has more of."""
    return max(",;\t", key=header.count)


def check_header(names: Iterable[str], where: Any) -> None:
    """Raise `InputError` where two columns have one name, since readers differ in which they take.

    names: without white space around them; unnamed columns do not count. where: the file.
    """
    twice = next((name for name, number in Counter(names).items() if name and number > 1), None)
    if twice is not None:
        raise InputError(f"{where} has more than one column {twice}; rename or remove all but one of them.")


def check_rows(rows: Iterable[Any], where: str) -> None:
    """Raise `InputError` where an id or a text of a row cannot be stored.

    rows: dataclasses, whose texts are fields or tuples of texts; where: their file or data set, for the message.
    """
    for number, row in enumerate(rows, start=1):
        for field in fields(row):
            value, what = getattr(row, field.name), f"{where}: the {field.name} of row {number}"
            # HDF5 cuts a text off there.
            if field.name == "id" and "\0" in value:
                raise InputError(f"{what} holds a NUL character (character {value.index(chr(0)) + 1}); take it out.")
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str):
                    check_text(text, what)
