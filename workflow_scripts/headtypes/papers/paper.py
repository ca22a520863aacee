"""A paper as the `paper.py` of its folder declares it: its data, its comparison, its figures and tables.

Planning reads these modules at every start, so they load little, and their methods import what they need.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from headtypes.core.errors import InputError, one_line
from headtypes.core.files import StrPath
from headtypes.core.stage import Given, Many, Plan, Result, Stage, wildcards_of

if TYPE_CHECKING:
    import pandas as pd

    from headtypes.core.tables import Table

to_read_first = partial(Result, section="To read first")
# {kind of result: {key: path}}.
Found = Mapping[str, Mapping[Any, str]]
# From a plan to what the files are of: entries, or wildcards.
Entries = Callable[[Plan], Iterable[Any]]
# A model, and a partition or a task; and the columns that name them.
Key = tuple[str, str]
PARTITION_KEYS, TASK_KEYS = ["model", "partition"], ["model", "task"]

_REFERENCE = Path(__file__).parents[3] / "reference"


def reference_of(paper: str) -> str:
    """Return the path of the YAML file in `reference/` with a paper's data, relative to the working directory."""
    return os.path.relpath(_REFERENCE / f"{paper}.yaml")


def table_stage(paper: str, *inputs: Many, calls: str, rule: str = "") -> Callable[[Callable[..., dict]], Stage]:
    """Return a decorator that turns a function (plan) -> spec into the `Stage` of a rule that writes a paper's tables.

    paper: the paper's folder, such as "guan2020". inputs: results that the rule reads, besides the paper's own data.
    calls: the function that the rule runs, such as "tables:run_types": `run_types` in the folder's `tables.py`.
    rule: the rule's name; "" for the name of the decorated function.
    """
    read = (*inputs, Given("reference", lambda plan: reference_of(paper)))
    how = {"calls": f"papers.{paper}.{calls}", "inputs": read, "local": True, "rule": rule}
    return lambda spec: Stage(spec, benchmark=f"results/{paper}/{rule or spec.__name__}.benchmark.tsv", **how)


class NoVerdictError(Exception):
    """Raised if quantities do not decide a claim; the message is the reason."""


class Data(BaseModel):
    """A part of a paper's data, read from YAML. An object is immutable, and an undeclared field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Note(Data):
    """A contradiction of a paper with itself or its sources: `remark` in a few words, `text` in full.

    figures: ids of published values that get the remark; `1` is for all that begin with `1.`. claims: ids of claims.
    """

    place: str
    figures: list[str]
    claims: list[str] = []
    remark: str
    text: str

    def concerns(self, id_: str) -> bool:
        return id_ in self.claims or any(id_ == start or id_.startswith(f"{start}.") for start in self.figures)


class Published(Data):
    """The data that every paper has. paper: authors, year, title, venue. model: the model that the paper is about."""

    paper: str
    url: str
    model: str
    notes: list[Note]

    @property
    def rows(self) -> tuple[str, ...]:
        """The rows of the paper's tables that a model's key `published` in the config may name; () for none."""
        return ()

    def remarks(self, id_: str) -> str:
        """Return the remarks of all notes on the value or claim with this id, joined by semicolons."""
        return "; ".join(note.remark for note in self.notes if note.concerns(id_))

    @classmethod
    def read(cls, path: StrPath) -> Self:
        """Return a paper's data from a YAML file, or raise `InputError` that names the file and the key."""
        try:
            return cls.model_validate(yaml.CSafeLoader(Path(path).read_text(encoding="utf-8")).get_single_data())
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise InputError(f"{path} is not valid YAML: {one_line(error)}.") from error
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise InputError(f"{path}: {key or 'the file'}: {first['msg']}.") from error


@dataclass(frozen=True)
class ShownFiles:
    """Files of one kind on the page of results, such as a figure for each model.

    name: key of the files among the inputs of the page. path: path of a PNG or CSV, with wildcards such as {model}.
    entries: function (plan) -> a plan's entry or a dict for each file, with a value for each wildcard.
    """

    name: str
    path: str
    entries: Entries

    @property
    def of(self) -> list[str]:
        return re.findall(r"\{(\w+)\}", self.path)

    def files(self, plan: Plan) -> dict[tuple[str, ...], str]:
        """Return {values of the wildcards in the order in which `path` has them: path of the file}."""
        found = [wildcards_of(self.path, entry) for entry in self.entries(plan)]
        return {tuple(wildcards.values()): self.path.format(**wildcards) for wildcards in found}


@dataclass(frozen=True)
class Figure(ShownFiles):
    """A kind of figure on the page of results. caption: name, without ending, of the caption's file in `report/`."""

    title: str
    caption: str


@dataclass(frozen=True)
class Tables(ShownFiles):
    """A kind of table on the page of results. shown: a function (path, *values of its wildcards) -> `Table`s."""

    shown: "Callable[..., Iterable[Table]]"


class Compared(NamedTuple):
    """The comparison with a paper: our quantities, a table of verdicts and published values, and its Markdown page."""

    quantities: "pd.DataFrame"
    table: "pd.DataFrame"
    page: str


class Paper:
    """A paper whose claims are judged on our results, and whose published values stand next to ours.

    published: class of the paper's data in `reference/`. name: the paper's name in paths of files.
    authors: the paper's name in sentences. title: its year and title.
    subject: "partition" or "task"; claims are judged once for each of a model's partitions, or of its tasks.
    row: words for the documentation on the rows that a model may be compared with, such as "a row of Table 1".
    judged: words for the documentation on what claims are judged for, such as "partition of every model".
    judges_tasks: whether the page of results shows all tasks of a model in full; if False, the one with most verdicts.
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
        """Return {(kind, *key): path} of results to compare with the paper; keys: such as ("features", model, task)."""
        raise NotImplementedError

    def spec(self, plan: Plan) -> dict:
        """Return {name: value} from the config: the arguments in `compare`'s `spec` that this paper alone has."""
        return {}

    def compare(self, found: Found, published: Any, spec: Mapping[str, Any]) -> Compared:
        """Return our quantities, a table of verdicts and published values, and a Markdown page on this table.

        found: {kind of result: {key: path}}, the paths from `inputs`. published: the paper's data.
        spec: the result of `spec`, with the arguments `repeats` and `tested` of `comparison.comparison_table` added.
        """
        raise NotImplementedError

    def finding(self, table: "pd.DataFrame", model: str) -> str:
        """Return a sentence with the paper's main value in `model`, for the page of results; "" without this value.

        table: rows of `comparison.csv` on values in `model`, for one partition or task. Its index is the value's id.
        """
        return ""


def paths_by_key(kind: str, result: Result, entries: Iterable[Any]) -> dict[tuple[str, ...], str]:
    """Return {(kind, *key): path of `result`} for the `entries` of a plan; `by_kind` makes {kind: {key: path}} of it.

    kind: a name for these results, of the caller's choice. key: the entry's attribute `key`, such as (model, task).
    """
    return {(kind, *entry.key): result.path.format(**entry.wildcards) for entry in entries}


def by_kind(found: Mapping[tuple[str, ...], str]) -> dict[str, dict[Any, str]]:
    """Return {kind: {key: path}} from {(kind, *key): path}; a key of one element becomes a string."""
    kinds: dict[str, dict[Any, str]] = defaultdict(dict)
    for (kind, *key), path in found.items():
        kinds[kind][tuple(key) if len(key) > 1 else key[0]] = path
    return kinds


def if_any(entries: Callable[[Plan], Any]) -> Entries:
    return lambda plan: [{}] if entries(plan) else []


def among(entries: Entries, others: Entries) -> Entries:
    return lambda plan: [entry for entry in entries(plan) if entry in others(plan)]


def shown_partitions(plan: Plan) -> list[Any]:
    # One with ablations, if there is one, and of these one with four types.
    partitions = plan.ablated or list(plan.partitions.values())
    return sorted(partitions, key=lambda partition: len(partition.types) != 4)[:1]


def shown_texts(plan: Plan) -> list[Any]:
    return plan.texts[:1]
