"""Declarations of a paper in the `paper.py` of its folder: what it published, how it is compared, what is shown of it.

The configuration and whatever plans jobs read declarations, which load little: methods import what they need.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from headtypes.core.errors import InputError, one_line
from headtypes.core.files import StrPath
from headtypes.core.results import Result
from headtypes.core.stage import Stage

if TYPE_CHECKING:
    import pandas as pd

    from headtypes.core.tables import Table

# `headtypes.planning.plan.Plan`, and the patterns of `headtypes.planning.registry.paths`: of a later room.
Plan = Any
Paths = Any
# Results of the papers, with which a reader begins.
to_read_first = partial(Result, section="To read first")
# Files by their keys, of each kind.
Found = Mapping[str, Mapping[Any, str]]
# From a plan to what the files are of: entries, or wildcards.
Entries = Callable[[Plan], Iterable[Any]]
# A model, and a partition or a task; and the columns, or wildcards, that name them.
Key = tuple[str, str]
PARTITION, TASK = ("model", "partition"), ("model", "task")
PARTITION_KEYS, TASK_KEYS = list(PARTITION), list(TASK)


class Data(BaseModel):
    """A part of a paper's data: fields that are not declared are refused, and none changes once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Note(Data):
    """A contradiction of the paper with itself or its sources, and the number that is taken.

    figures: ids of the comparison's values, or the parts that they begin with, beside which the remark is put.
    claims: ids of the claims beside which it is put, which the paper's own numbers may not satisfy.
    """

    place: str
    figures: list[str]
    claims: list[str] = []
    remark: str
    text: str

    def concerns(self, id_: str) -> bool:
        """Tell whether the remark belongs beside the value or claim with this id."""
        return id_ in self.claims or any(id_ == start or id_.startswith(f"{start}.") for start in self.figures)


class Published(Data):
    """Everything that is compared with a paper, which adds its numbers; model: whose heads these are of."""

    paper: str
    url: str
    model: str
    notes: list[Note]

    @property
    def rows(self) -> tuple[str, ...]:
        """The parts of the paper beside which a model in the config can stand; none, unless a paper says otherwise."""
        return ()

    def remarks(self, id_: str) -> str:
        """Return the remarks of the notes on the value or claim with this id; empty where there is none."""
        return "; ".join(note.remark for note in self.notes if note.concerns(id_))

    @classmethod
    def read(cls, path: StrPath) -> Self:
        """Read a paper's data from YAML. Raises `InputError` that names the file and the key that is wrong."""
        try:
            return cls.model_validate(yaml.CSafeLoader(Path(path).read_text(encoding="utf-8")).get_single_data())
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise InputError(f"{path} is not valid YAML: {one_line(error)}.") from error
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise InputError(f"{path}: {key or 'the file'}: {first['msg']}.") from error


class Figure(NamedTuple):
    """A figure: `name` of its files among the page's inputs, title, `caption` by name, and path of its PNG.

    of: the wildcards of the path that its title and caption name; entries: those of which it is shown.
    """

    name: str
    title: str
    caption: str
    path: str
    of: tuple[str, ...]
    entries: Entries


class Tables(NamedTuple):
    """Tables: `name` of their files among the page's inputs, and path of the CSV; `of` and `entries` as in `Figure`.

    shown: (path, *what it is of) -> its tables, whose columns the file has.
    """

    name: str
    path: str
    of: tuple[str, ...]
    entries: Entries
    shown: "Callable[..., Iterable[Table]]"


class Compared(NamedTuple):
    """The comparison with a paper: `comparison.tidy_table`, `comparison.comparison_table`, and the same as Markdown."""

    quantities: "pd.DataFrame"
    table: "pd.DataFrame"
    page: str


class Paper:
    """A paper whose claims are judged on our results, and whose values stand beside ours.

    published: what it published, read from its data in `reference/`.
    name:    of its folder here, of these data, and of its folder under `results/`.
    authors: as sentences name it; title: its year and its title.
    subject: what its claims are judged on, beside the model: a partition, or a task.
    row:     what a model in the config can stand beside, for the documentation.
    judged:  the same in words, for the documentation.
    stages, results: of its own rules; figures, tables: those that the page of results shows.
    judges_tasks: whether its claims are about several tasks of one model, whose verdicts stand together.
    """

    published: type[Published]
    name: str
    authors: str
    title: str
    subject: Literal["partition", "task"]
    row: str
    judged: str
    stages: tuple[Stage, ...] = ()
    results: tuple[Result, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Tables, ...] = ()
    judges_tasks: bool = False

    def inputs(self, plan: Plan, paths: Paths) -> dict[tuple[str, ...], str]:
        """Return the files that are compared with it, by kind and key (`files`); none where there is nothing to
        compare.
        """
        raise NotImplementedError

    def spec(self, plan: Plan) -> dict:
        raise NotImplementedError

    def compare(self, found: Found, published: Any, spec: Mapping[str, Any]) -> Compared:
        """Set our results, the files of `inputs`, beside what it published, and judge its claims."""
        raise NotImplementedError

    def readings(self, plan: Plan) -> str:
        """Return the path of the table of its claims under further readings (`guan2020.readings`); empty if there is
        none.
        """
        return ""

    def finding(self, table: "pd.DataFrame", model: str) -> str:
        """Return a sentence on a reader's first question besides the verdicts; empty if there is none.

        table: the rows of the comparison about one subject, by their ids.
        """
        return ""


def files(kind: str, pattern: str, entries: Iterable[Any]) -> dict[tuple[str, ...], str]:
    return {(kind, *entry.key): pattern.format(**entry.wildcards) for entry in entries}


def by_kind(found: Mapping[tuple[str, ...], str]) -> dict[str, dict[Any, str]]:
    """Return files by kind, and then by key: a tuple of strings, or the string alone; a kind without files has none."""
    kinds: dict[str, dict[Any, str]] = defaultdict(dict)
    for (kind, *key), path in found.items():
        kinds[kind][tuple(key) if len(key) > 1 else key[0]] = path
    return kinds


def shown_files(shown: Figure | Tables, plan: Plan) -> dict[tuple[str, ...], str]:
    found = [entry if isinstance(entry, dict) else entry.wildcards for entry in shown.entries(plan)]
    return {tuple(wildcards[name] for name in shown.of): shown.path.format(**wildcards) for wildcards in found}


def if_any(entries: Callable[[Plan], Any]) -> Entries:
    return lambda plan: [{}] if entries(plan) else []


def shown_partitions(plan: Plan) -> list[Any]:
    """Return the partition whose figures are shown: an evaluated one, of four types, where there is one."""
    partitions = plan.ablated or list(plan.partitions.values())
    return sorted(partitions, key=lambda partition: len(partition.types) != 4)[:1]


def shown_texts(plan: Plan) -> list[Any]:
    return plan.texts[:1]
