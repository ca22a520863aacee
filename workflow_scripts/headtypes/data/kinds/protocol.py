"""The protocol of a kind of task; `registry.KINDS` lists the kinds.

A kind is a module beside this file, of the kind's name, with a subclass of `Kind`: how data become rows, how rows
become samples, and what the configuration needs to know. That is all that measuring attention takes. A kind without
samples (`samples` is not among its keys) is read whole by analyses of its own. On a kind with a `head`, models are
evaluated as well: it says what a model reads, should answer and does answer, and how good that is. Its methods have the
types that are written here.

Planning imports the kinds, so none of them imports a heavy library (NumPy included) except inside functions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from headtypes.core.errors import InputError
from headtypes.data.kinds.metrics import Metric
from headtypes.data.records import Sample

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import torch
    from transformers import PreTrainedTokenizerBase

    from headtypes.data.windows import Windows
    from headtypes.models.records import ModelRecord

# Of a kind: what a language model answers, with its head for masked words or for the next token.
LANGUAGE_MODEL = "language_model"

# How a table's columns are called, by the fields of a row; None for a kind that has no such fields.
Columns = Mapping[str, str] | None
# Takes the number of inputs that there are, and returns the indices of those that are wanted, in rising order.
Draw = Callable[[int], Sequence[int]]
# Answers by id, and a table of scores with one row for each.
Scored = tuple[dict[str, str], "pd.DataFrame"]


class Rows(list):
    """The rows of some data. left_out: how many of the data are not among them, by their sort."""

    def __init__(self, rows: Iterable, left_out: Mapping[str, int]):
        super().__init__(rows)
        self.left_out = {what: count for what, count in left_out.items() if count}


class DataColumn(NamedTuple):
    """A column of a table of data: its name unless the configuration gives another one, and what is in it."""

    default: str | None
    doc: str = ""


ID = DataColumn(None, "Column of the sample's id; without it, the row number.")


class Kind(ABC):
    """A kind of task.

    name, title: in the configuration, and in a sentence.
    row:        the class of its rows, a dataclass that is a `records.StrictRecord`.
    form, formats: how a file of its data is read (`fetching.read_file`): as `json`, as a `table` with named columns, or
        as `files` that the kind itself reads; and the formats of such a file, in words.
    keys, source_keys: keys of a task, and of its source, in the configuration that only kinds which name them have.
    columns:    fields of a row whose column of a table the configuration can name.
    truncation: which text of a sample that is too long is cut, in a tokenizer's terms.
    running:    whether a tokenizer that separates no two texts joins those of a sample (`encoding.encode_samples`).
    head:       the head of the models that answer it (`models.loading.HEADS`), or `LANGUAGE_MODEL`; None if none can.
    window_keys, answer_keys: keys of the configuration's `windows` that determine what a model reads (in addition to
        `max_seq_length`), and what it answers.
    windows_of_row: about how many inputs as long as itself a row becomes, for estimates of time.
    without_reading: keys of the configuration's `ablation` that mean nothing on it.
    metrics:    how good answers are, the main one first; counted: the name of rows, in the plural.
    target_names: arguments of the model's `forward` that take the columns of `training_targets`.
    answer_columns: names of the values that `read_answers` reads for each window.
    """

    name: ClassVar[str]
    row: ClassVar[type]
    title: ClassVar[str]
    form: ClassVar[Literal["json", "table", "files"]]
    formats: ClassVar[str]
    keys: ClassVar[tuple[str, ...]] = ()
    source_keys: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[Mapping[str, DataColumn]] = {}
    truncation: ClassVar[Literal["longest_first", "only_first", "only_second"]] = "longest_first"
    running: ClassVar[bool] = False
    head: ClassVar[str | None] = None
    window_keys: ClassVar[tuple[str, ...]] = ()
    answer_keys: ClassVar[tuple[str, ...]] = ()
    windows_of_row: ClassVar[int] = 1
    without_reading: ClassVar[tuple[str, ...]] = ()
    metrics: ClassVar[tuple[Metric, ...]] = ()
    counted: ClassVar[str] = "questions"
    target_names: ClassVar[tuple[str, ...]] = ("labels",)
    answer_columns: ClassVar[tuple[str, ...]] = ()

    @property
    def is_learned(self) -> bool:
        return self.head is not None and "training_file" in self.source_keys

    @abstractmethod
    def rows_of_file(self, data: Any, where: str, key: str, columns: Columns) -> list:
        """Return the rows of a file's data. Raises `InputError` if they do not have the form that the kind requires.

        data:    as `fetching.read_file` returns them; of the form `files`, the paths of one file or of all of a folder.
        where, key: the file or folder, and the task's `columns` in the configuration, for messages.
        columns: {field of a row: column of a table}, if the kind has any.
        """

    def rows_of_hub(self, data: Any, where: str, key: str, columns: Columns) -> list:
        """Return the rows of a dataset of the Hub, if the kind supports these; otherwise as `rows_of_file`."""
        raise InputError(f"{where}: a task of kind {self.name} cannot be read from the Hub; give a local file.")

    def draw_samples(self, rows: Sequence, draw: Draw) -> list[Sample]:
        """Return some of the inputs that the rows contain; draw: gives the indices of some of so many."""
        raise NotImplementedError(f"No inputs are drawn from a task of kind {self.name}.")

    def cut_windows(
        self,
        rows: Sequence,
        tokenizer: PreTrainedTokenizerBase,
        record: ModelRecord,
        *,
        max_seq_length: int,
        **shape: int,
    ) -> Windows:
        """Encode the rows as a model reads them.

        max_seq_length: most tokens of a window, for a model that takes as many.
        shape: the kind's `window_keys`; for the answers of a `LANGUAGE_MODEL`, the seed of the words that are hidden.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def answer_targets(self, rows: Sequence, windows: Windows, record: ModelRecord) -> np.ndarray:
        """Return the correct class of each of the head's softmaxes, such as start and end token: [window, softmax] int.

        Rows of windows without an answer are negative. Where windows have targets of their own, the number of tokens to
        predict.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def training_targets(self, rows: Sequence, windows: Windows) -> tuple[np.ndarray, list[str] | None]:
        """Return the targets from which a new model learns, none of them negative, and the names of its labels, if
        any.
        """
        raise NotImplementedError(f"No model is fine-tuned on a task of kind {self.name}.")

    def answer_logits(self, output: Any, mask: torch.Tensor) -> torch.Tensor:
        """Return the logits of each of the head's softmaxes, [input, class, softmax]; mask: [input, token] 1 for a real
        token.
        """
        return output.logits[:, :, None]

    def check_answerable(self, rows: Sequence, windows: Windows, record: ModelRecord) -> None:
        """Raise `InputError` unless the rows are those of the windows and the model can answer them."""
        from headtypes.data.windows import check_same

        check_same(rows, windows)

    def read_answers(self, output: Any, sentences: list[np.ndarray], **settings: int) -> tuple[np.ndarray, ...]:
        """Return the values in the model's output for a batch: an array [window] for each of `answer_columns`.

        sentences: [token] for each window, numbered as in `windows.Windows`; settings: the kind's `answer_keys`.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def score_answers(
        self, rows: Sequence, windows: Windows, record: ModelRecord, values: tuple[np.ndarray, ...]
    ) -> Scored:
        """Return answers by id, and a table of scores with a row for each; values: [window] for each of
        `answer_columns`.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def mean_scores(self, scores: pd.DataFrame) -> dict[str, float | int]:
        """Return the metrics and the number of answers (`n_` and the name of these), from the table of scores."""
        means = {metric.name: float(scores[metric.column].mean()) for metric in self.metrics}
        return {**means, f"n_{self.counted}": len(scores)}
