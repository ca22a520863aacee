"""The protocol of a kind of task; `kinds` is the registry.

A kind is a folder beside this file. Its `kind.py` holds a subclass of `Kind`: how data become rows and rows become
samples, and what the configuration needs to know. Nothing more is needed to measure attention. A kind without samples
(`samples` is not among its keys) is read whole by analyses of its own, which need the words. A kind on which models
can be evaluated has a folder in the room `answering` as well, with two modules: `examples.py` (`examples.Examples`),
what a model reads and what it should answer; and `answers.py` (`answers.Answers`), what it does answer and how good
that is. These are separate modules because a job runs again when code that it imports changes: a change in the scoring
must not train a model again.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from headtypes.core.errors import InputError
from headtypes.data.records import Sample

# Of a kind: what a language model answers, with its head for masked words or for the next token.
LANGUAGE_MODEL = "language_model"


class Kind(ABC):
    """A kind of task.

    The configuration imports it whenever jobs are planned, so it must not import heavy libraries (NumPy included).

    name:       as in the configuration.
    row:        the class of its rows, a dataclass as those of `records`.
    form:       how a file of its data is read: as `json`, or as a `table` with named columns (`sources.read_file`); or
        `files`, if the kind itself reads them.
    worlds:     data sets of the generated world that are of this kind (`world.tasks.DATA_SETS`).
    keys, source_keys: keys of a task, and of its source, in the configuration that are only for this kind, or for the
        kinds that name them.
    columns:    fields of a row whose column of a table the configuration can name.
    labels_in_columns: whether the configuration's `columns.label` says where labels are.
    truncation: which text of a sample that is too long is cut, in a tokenizer's terms.
    running:    whether a tokenizer that separates no two texts joins those of a sample (`encoding.encode_samples`).
    head:       the head of the models that answer it (`models.loading.HEADS`), or `LANGUAGE_MODEL`; None if no model
        can be evaluated on it.
    window_keys, answer_keys: keys of the configuration's `windows` that determine what a model reads (in addition to
        `max_seq_length`), and what it answers.
    windows_of_row: about how many inputs as long as itself a row becomes, for estimates of time.
    without_reading: keys of the configuration's `ablation` that mean nothing on it.
    """

    name: ClassVar[str]
    row: ClassVar[type]
    form: ClassVar[Literal["json", "table", "files"]]
    worlds: ClassVar[tuple[str, ...]] = ()
    keys: ClassVar[tuple[str, ...]] = ()
    source_keys: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[tuple[str, ...]] = ()
    labels_in_columns: ClassVar[bool] = False
    truncation: ClassVar[Literal["longest_first", "only_first", "only_second"]] = "longest_first"
    running: ClassVar[bool] = False
    head: ClassVar[str | None] = None
    window_keys: ClassVar[tuple[str, ...]] = ()
    answer_keys: ClassVar[tuple[str, ...]] = ()
    windows_of_row: ClassVar[int] = 1
    without_reading: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def of_file(self, data: Any, where: str, key: str, columns: Mapping[str, str] | None) -> list:
        """The rows in the data of a file.

        data:    as `sources.read_file` returns them; of the form `files`, the paths of one file or of all of a folder.
        where:   the file or folder, for messages; key: the task's `columns` in the configuration, likewise.
        columns: {field of a row: column of a table}, if the kind has any.
        Raises `InputError` if the data do not have the form that the kind requires.
        """

    def of_hub(self, data: Any, where: str, key: str, columns: Mapping[str, str] | None) -> list:
        """The rows of a dataset of the Hub, if the kind supports these; otherwise as `of_file`."""
        raise InputError(f"{where}: a task of kind {self.name} cannot be read from the Hub; give a local file.")

    def of_world(self, data: Any, world: str, split: str) -> list:
        """The rows of a data set of the generated world, one of `worlds`."""
        raise NotImplementedError(f"The generated world has nothing of the kind {self.name}.")

    def samples(self, rows: Sequence, draw: Callable[[int], Sequence[int]]) -> list[Sample]:
        """Draw some of the inputs that the rows contain.

        draw: takes the number of inputs there are, and returns the places of those that are wanted, in rising order.
        """
        raise NotImplementedError(f"No inputs are drawn from a task of kind {self.name}.")
