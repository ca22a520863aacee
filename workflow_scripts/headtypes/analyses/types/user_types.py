"""The types in a CSV file of the user's, which a plan has to know before anything is read."""

import csv
import re
from io import StringIO

from headtypes.analyses.types.names import ALL, TYPE_NAME
from headtypes.attention.operations import head_of
from headtypes.core.errors import InputError, one_line
from headtypes.core.texts import check_header, separator_of, text_of


def types_in_file(file: str) -> set[str]:
    """Read the types that a user's CSV file names; raises `InputError` where it names none, or ones that cannot be."""
    try:
        text = text_of(file)
        form = {"delimiter": separator_of(text.partition("\n")[0]), "skipinitialspace": True}
        read = csv.reader(StringIO(text, newline=""), **form)
        lines = [[cell.strip() for cell in row] for row in read if row]
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{file} cannot be read as CSV ({one_line(error)}).") from error
    if not lines or "type" not in lines[0]:
        raise InputError(f"{file} has no column type; it needs layer, head and type.")
    check_header(lines[0], file)
    column = lines[0].index("type")
    types = {line[column] for line in lines[1:] if len(line) > column}
    for name in sorted(types):
        if not re.fullmatch(TYPE_NAME, name):
            raise InputError(f"{file} has the type {name!r}; a type has letters, digits, _ and -.")
        if head_of(name) or name == ALL:
            what = "heads of every type" if name == ALL else "one head"
            raise InputError(f"{file} has the type {name!r}, which stands for {what}; rename it.")
    if not types:
        raise InputError(f"{file} names no type.")
    return types
