"""What a paper declares in the `paper.py` of its folder: how its results are compared, and what is shown of it.

The configuration and whatever plans jobs read declarations, which load little: methods import what they need.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from headtypes.core.results import Result
from headtypes.core.stage import Stage

if TYPE_CHECKING:
    import pandas as pd

    from headtypes.core.tables import Table
    from headtypes.papers.published import Published

# `headtypes.planning.plan.Plan`, and the patterns of `headtypes.planning.registry.paths`, whose room stands above.
Plan = Any
Paths = Any
# Results of the papers, with which a reader begins.
to_read_first = partial(Result, section="To read first")
# Files by their keys, of each kind.
Found = Mapping[str, Mapping[Any, str]]
# From a plan to what the files are of: entries, or wildcards.
Entries = Callable[[Plan], Iterable[Any]]
PARTITION, TASK = ("model", "partition"), ("model", "task")


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
    """What stands beside a paper: `comparison.tidy_table`, `comparison.comparison_table`, and the same as Markdown."""

    quantities: "pd.DataFrame"
    table: "pd.DataFrame"
    page: str


class Paper:
    """A paper whose claims are judged on our results, and whose values stand beside ours.

    name:    of its folder here, of its data in `reference/`, and of its folder under `results/`.
    authors: as sentences name it; title: its year and its title.
    subject: what its claims are judged on, beside the model: a partition, or a task.
    row:     what a model in the config can stand beside, for the documentation.
    judged:  the same in words, for the documentation.
    stages, results: of its own rules; figures, tables: those that the page of results shows.
    judges_tasks: whether its claims are about several tasks of one model, whose verdicts stand together.
    """

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

    def read(self, path: str) -> "Published":
        """What it published. Raises `InputError` that names the file and the key that is wrong."""
        raise NotImplementedError

    def inputs(self, plan: Plan, paths: Paths) -> dict[tuple[str, ...], str]:
        """The files that are compared with it, by kind and key (`files`); none where there is nothing to compare."""
        raise NotImplementedError

    def spec(self, plan: Plan) -> dict:
        """What the comparison depends on besides."""
        raise NotImplementedError

    def compare(self, found: Found, published: Any, spec: Mapping[str, Any]) -> Compared:
        """Set our results, the files of `inputs`, beside what it published, and judge its claims."""
        raise NotImplementedError

    def readings(self, plan: Plan) -> str:
        """The table of its claims under further readings (`guan2020.comparison`); empty where there is none."""
        return ""

    def finding(self, table: "pd.DataFrame", subject: tuple[str, str]) -> str:
        """What the comparison says of a subject besides its verdicts, in a sentence; empty if nothing."""
        return ""


def files(kind: str, pattern: str, entries: Iterable[Any]) -> dict[tuple[str, ...], str]:
    """The path of a result for each entry of a plan, by its kind and the entry's key."""
    return {(kind, *entry.key): pattern.format(**entry.wildcards) for entry in entries}


def by_kind(found: Mapping[tuple[str, ...], str]) -> dict[str, dict[Any, str]]:
    """Files by kind, and then by key: a tuple of strings, or the string alone; of a kind without files, none."""
    kinds: dict[str, dict[Any, str]] = defaultdict(dict)
    for (kind, *key), path in found.items():
        kinds[kind][tuple(key) if len(key) > 1 else key[0]] = path
    return kinds


def stages_in(*modules: ModuleType) -> tuple[Stage, ...]:
    """The stages that modules hold, in their order."""
    return tuple(value for module in modules for value in vars(module).values() if isinstance(value, Stage))


def shown_files(shown: Figure | Tables, plan: Plan) -> dict[tuple[str, ...], str]:
    """The files that are shown, by what they are of."""
    found = [entry if isinstance(entry, dict) else entry.wildcards for entry in shown.entries(plan)]
    return {tuple(it[name] for name in shown.of): shown.path.format(**it) for it in found}


def if_any(entries: Callable[[Plan], Any]) -> Entries:
    """One file of everything, if a plan has some of these."""
    return lambda plan: [{}] if entries(plan) else []


def shown_partitions(plan: Plan) -> list[Any]:
    """The partition whose figures are shown: an evaluated one, of four types, where there is one."""
    partitions = plan.ablated or list(plan.partitions.values())
    return sorted(partitions, key=lambda it: len(it.types) != 4)[:1]


def shown_texts(plan: Plan) -> list[Any]:
    """The model and task of text whose figures are shown."""
    return plan.texts[:1]
