"""What a kind of task says of itself; `kinds` has the kinds there are.

A kind is a folder beside this file. Its `kind.py` holds a subclass of `Kind`: how its data become rows and its rows
become samples, and what the configuration needs to know. That is all that attention is measured with. A kind that a
model can be evaluated on has two further modules, `examples.py` (`examples.Examples`: what the model reads and should
answer) and `answers.py` (`answers.Answers`: what it does answer, and how good that is). The three stand apart because
jobs depend on the code that they reach: an edit of how answers are scored must not train a model again.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from headtypes.base.errors import InputError
from headtypes.tasks.records import Sample


class Kind(ABC):
    """A kind of task. The configuration reads it whenever a plan is made, so no heavy library is imported for it.

    name:       as in the configuration.
    row:        the class of its rows, of `records`.
    form:       what a file of its data is read as: `json`, or `table` with named columns (`sources.read_file`).
    worlds:     the data sets of the generated world that are of this kind (`world.tasks.DATA_SETS`).
    keys:       keys of a task's configuration that no other kind has.
    labels_in_columns: whether labels are found by the configuration's `columns.label`.
    truncation: what of a sample that is too long is cut, as a tokenizer calls it.
    head:       the head of the models that answer it (`models.loading.HEADS`); None where it cannot be evaluated.
    window_keys, answer_keys: what of the configuration's `windows`, beside `max_seq_length`, shapes what a model
        reads, and what it answers.
    """

    name: ClassVar[str]
    row: ClassVar[type]
    form: ClassVar[Literal["json", "table"]]
    worlds: ClassVar[tuple[str, ...]] = ()
    keys: ClassVar[tuple[str, ...]] = ()
    labels_in_columns: ClassVar[bool] = False
    truncation: ClassVar[Literal["longest_first", "only_first", "only_second"]] = "longest_first"
    head: ClassVar[str | None] = None
    window_keys: ClassVar[tuple[str, ...]] = ()
    answer_keys: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def of_file(self, data: Any, where: str, key: str, columns: Mapping[str, str] | None) -> list:
        """The rows of a file's data.

        data:    what `sources.read_file` made of it.
        where:   the file, for messages; key: the task's `columns` in the configuration, likewise.
        columns: {field of a row: column of a table}, where the kind has such a key.
        Raises `InputError` where the data are not in the form that the kind asks for.
        """

    def of_hub(self, data: Any, where: str, key: str, columns: Mapping[str, str] | None) -> list:
        """The rows of a dataset of the Hub, where the kind can be had from there; otherwise as `of_file`."""
        raise InputError(f"{where}: a task of kind {self.name} cannot be read from the Hub; give a local file.")

    def of_world(self, data: Any, world: str, split: str) -> list:
        """The rows of a data set of the generated world, one of `worlds`."""
        raise NotImplementedError(f"The generated world has nothing of the kind {self.name}.")

    @abstractmethod
    def samples(self, rows: Sequence, draw: Callable[[int], Sequence[int]]) -> list[Sample]:
        """Some of the inputs that the rows hold.

        draw: from the number of all inputs, the places of those that are wanted, rising.
        """
