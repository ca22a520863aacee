"""What a plan is made of: which results there are, by their wildcards."""

from dataclasses import dataclass
from typing import NamedTuple

from headtypes.attention.settings import Of

# Between a condition and a reading; no name holds it.
UNDER = "@"
# In place of a task where a model reads none; no task has this name.
RANDOM_TOKENS = "random tokens"


class FeaturePlan(NamedTuple):
    """The heads of one model on the samples of one task."""

    model: str
    task: str

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies its files among those of one kind."""
        return tuple(self)

    @property
    def wildcards(self) -> dict[str, str]:
        """Its wildcards in the paths of results."""
        return self._asdict()


@dataclass(frozen=True)
class PartitionPlan:
    """One division of one model's heads into types."""

    model: str
    name: str
    task: str
    types: tuple[str, ...]
    method: str | None = None
    k: int | None = None
    file: str | None = None
    """CSV file of the user's, instead of a clustering method."""
    of: Of = "weights"
    """What heads are divided and described by: weights or norms."""

    @property
    def of_task(self) -> FeaturePlan:
        """The heads that it divides, on the samples of its task."""
        return FeaturePlan(self.model, self.task)

    @property
    def clustering(self) -> str:
        """The name of the way of clustering, whatever the task."""
        return self.name.removeprefix(f"{self.task}-")

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies its files among those of one kind."""
        return self.model, self.name

    @property
    def subject(self) -> str:
        """What it is of, in words: tells apart the partitions that one way of clustering makes."""
        return f"{self.model} on {self.task}"

    @property
    def wildcards(self) -> dict[str, str]:
        """Its wildcards in the paths of results."""
        return {"model": self.model, "partition": self.name, "task": self.task}


@dataclass(frozen=True)
class AblationPlan:
    """One condition evaluated on one model under one partition and one reading of the paper."""

    model: str
    partition: str
    condition: str
    task: str
    reading: str | None = None
    """Name of a further reading; None for that of `ablation`."""

    @property
    def name(self) -> str:
        """The condition, with the reading where it is a further one."""
        return self.condition if self.reading is None else f"{self.condition}{UNDER}{self.reading}"

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies its files among those of one kind."""
        return self.model, self.partition, self.name

    @property
    def wildcards(self) -> dict[str, str]:
        """Its wildcards in the paths of results."""
        return {"model": self.model, "partition": self.partition, "task": self.task, "condition": self.name}
