"""A paper as the `paper.py` of its folder declares it: its data, its comparison, its figures and tables.

Planning reads these modules at every start, so they load little, and their methods import what they need.
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
from headtypes.core.stage import Plan, Result, Stage

if TYPE_CHECKING:
    import pandas as pd

    from headtypes.core.tables import Table

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
    """A part of a paper's data in YAML: immutable, and an undeclared field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Note(Data):
    """A contradiction of a paper with itself or its sources, and the number that is taken.

    figures: ids of values of the comparison that get the remark; `1` stands for `1.f1` and all ids that begin alike.
    claims:  ids of claims that get the remark; the paper's own numbers may contradict these claims.
    """

    place: str
    figures: list[str]
    claims: list[str] = []
    remark: str
    text: str

    def concerns(self, id_: str) -> bool:
        return id_ in self.claims or any(id_ == start or id_.startswith(f"{start}.") for start in self.figures)


class Published(Data):
    """Published data that all papers have; a paper with numbers adds them. model: the model that the paper is about."""

    paper: str
    url: str
    model: str
    notes: list[Note]

    @property
    def rows(self) -> tuple[str, ...]:
        """Return the names that a model's `published` in the config may have: rows of the paper's tables, if any."""
        return ()

    def remarks(self, id_: str) -> str:
        """Return the remarks of all notes on the value or claim with this id, joined by semicolons."""
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
    """A figure of the page of results.

    name:    the key of its files among the page's inputs.
    caption: the name of its text in `report/`.
    path:    the path of its PNG, with wildcards; of: the names of the wildcards.
    entries: a function from the plan to the models, partitions or tasks for which it is shown.
    """

    name: str
    title: str
    caption: str
    path: str
    of: tuple[str, ...]
    entries: Entries


class Tables(NamedTuple):
    """Tables of the page of results; name, of and entries as in `Figure`.

    path:  the path of the CSV, with wildcards.
    shown: a function from the path and the values of its wildcards to the tables.
    """

    name: str
    path: str
    of: tuple[str, ...]
    entries: Entries
    shown: "Callable[..., Iterable[Table]]"


class Compared(NamedTuple):
    """The comparison with a paper.

    quantities: the result of `comparison.tidy_table`; table: the result of `comparison.comparison_table`.
    page: the table in Markdown, with all claims.
    """

    quantities: "pd.DataFrame"
    table: "pd.DataFrame"
    page: str


class Paper:
    """A paper whose claims are judged on our results, and whose published values stand next to ours.

    published: the class of its data in `reference/`.
    name:      the name of its data, of its folder in this package, and of its folder in `results/`.
    authors:   how sentences name it; title: its year and title.
    subject:   what a claim is judged on: a model with a partition, or a model with a task.
    row:       names for `published` of a model in the config, in words for the documentation.
    judged:    all partitions or tasks on which its claims are judged, in words for the documentation.
    stages:    the stages of its rules; results: their results.
    figures, tables: those that the page of results shows.
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

    def inputs(self, plan: Plan) -> dict[tuple[str, ...], str]:
        """Return the paths of our results that are compared with the paper, by (kind, *key)."""
        raise NotImplementedError

    def spec(self, plan: Plan) -> dict:
        """Return the arguments of `compare` that come from the config; all papers have `repeats` and `tested`."""
        return {}

    def compare(self, found: Found, published: Any, spec: Mapping[str, Any]) -> Compared:
        """Judge the paper's claims, and set our results next to its published values.

        found: the paths of `inputs`, by kind and key.
        spec:  the result of `spec`, with `repeats` and `tested` as in `comparison.comparison_table`.
        """
        raise NotImplementedError

    def readings(self, plan: Plan) -> str:
        """Return the path of the table of claims under further readings (`guan2020.readings`), or an empty text."""
        return ""

    def finding(self, table: "pd.DataFrame", model: str) -> str:
        """Return the sentence about a model that comes first on the page of results, or an empty text.

        table: rows of the comparison about the model with one partition or task, indexed by id.
        """
        return ""


def paths_by_key(kind: str, result: Result, entries: Iterable[Any]) -> dict[tuple[str, ...], str]:
    """Return {(kind, *key): path} of a result for entries of the plan, by what tells an entry from others."""
    return {(kind, *entry.key): result.path.format(**entry.wildcards) for entry in entries}


def by_kind(found: Mapping[tuple[str, ...], str]) -> dict[str, dict[Any, str]]:
    """Return {kind: {key: path}} from {(kind, *key): path}; a key is a tuple of strings, or a single string."""
    kinds: dict[str, dict[Any, str]] = defaultdict(dict)
    for (kind, *key), path in found.items():
        kinds[kind][tuple(key) if len(key) > 1 else key[0]] = path
    return kinds


def shown_files(shown: Figure | Tables, plan: Plan) -> dict[tuple[str, ...], str]:
    found = [entry if isinstance(entry, dict) else entry.wildcards for entry in shown.entries(plan)]
    return {tuple(wildcards[name] for name in shown.of): shown.path.format(**wildcards) for wildcards in found}


def if_any(entries: Callable[[Plan], Any]) -> Entries:
    return lambda plan: [{}] if entries(plan) else []


def among(entries: Entries, others: Entries) -> Entries:
    return lambda plan: [entry for entry in entries(plan) if entry in others(plan)]


def shown_partitions(plan: Plan) -> list[Any]:
    """Return the one partition whose figures the page shows: with ablations and four types if possible."""
    partitions = plan.ablated or list(plan.partitions.values())
    return sorted(partitions, key=lambda partition: len(partition.types) != 4)[:1]


def shown_texts(plan: Plan) -> list[Any]:
    return plan.texts[:1]
