"""What a paper published, as data: the base of every paper's model of it, and how the file is read."""

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from headtypes.core.errors import InputError, one_line
from headtypes.core.files import StrPath


class Data(BaseModel):
    """A part of a paper's data: fields that are not declared are refused, and none changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Note(Data):
    """Where the paper contradicts itself or its sources, and which number is taken.

    figures: ids of the comparison's values, or the parts that they begin with, beside which the remark is put.
    claims: ids of the claims beside which it is put, which the paper's own numbers may not satisfy.
    """

    place: str
    figures: list[str]
    claims: list[str] = []
    remark: str
    text: str

    def concerns(self, id_: str) -> bool:
        """Whether the remark belongs beside the value or claim with this id."""
        return id_ in self.claims or any(id_ == start or id_.startswith(f"{start}.") for start in self.figures)


class Published(Data):
    """Everything that is compared with a paper; each paper adds its numbers and its claims."""

    paper: str
    url: str
    notes: list[Note]

    def remarks(self, id_: str) -> str:
        """What the notes say of the value or claim with this id; empty where they say nothing."""
        return "; ".join(note.remark for note in self.notes if note.concerns(id_))


PublishedKind = TypeVar("PublishedKind", bound=Published)


def read_published(path: StrPath, kind: type[PublishedKind]) -> PublishedKind:
    """Read a paper's data from YAML. Raises `InputError` that names the file and the key that is wrong."""
    try:
        return kind.model_validate(yaml.CSafeLoader(Path(path).read_text(encoding="utf-8")).get_single_data())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid YAML: {one_line(error)}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}: {key or 'the file'}: {first['msg']}.") from error
