"""What the page of results shows of a paper: figures and tables, where they lie, and of which entries of the plan."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from headtypes.core.tables import Table

# `headtypes.planning.plan.Plan`, whose room stands above.
Plan = Any
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


def files(shown: Figure | Tables, plan: Plan) -> dict[tuple[str, ...], str]:
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
