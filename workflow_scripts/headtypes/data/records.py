"""Records, such as the rows of a task's data and the samples drawn from them, and the JSON Lines that hold them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, numbered_rows, write_json_lines


class StrictRecord:
    """A record that is read only if it has all fields, of the right types, and no others."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)


Record = TypeVar("Record", bound=StrictRecord)


@dataclass(frozen=True, slots=True)
class Sample(StrictRecord):
    """One input of a model: one text, or two texts that it reads together."""

    id: str
    first: str
    second: str | None


def write_records(path: StrPath, records: Sequence[StrictRecord]) -> None:
    write_json_lines(path, (_adapter(type(record)).dump_python(record) for record in records))


def read_records(path: StrPath, record: type[Record]) -> list[Record]:
    """Read the records of a file; `InputError` names the damaged line and field, or a file without rows."""
    adapter, records = _adapter(record), []
    for number, line in numbered_rows(path):
        try:
            records.append(adapter.validate_json(line))
        except ValidationError as error:
            first, what = error.errors(include_url=False)[0], f"not a valid {record.__name__.lower()}"
            problem = ": ".join(map(str, [*first["loc"][:1], first["msg"]]))
            raise InputError(f"{path}, line {number} is {what} ({problem}); delete the file and run again.") from error
    return records


@cache
def _adapter(record: type[Record]) -> TypeAdapter[Record]:
    return TypeAdapter(record)
