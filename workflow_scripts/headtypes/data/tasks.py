"""Kinds of task: what the module of a kind declares, its rows and samples as files, its metrics, all kinds by name.

The module of a kind lies in `kinds/`, bears its name and has a subclass of `Kind`: how data become rows, how rows
become samples, and what the configuration needs to know. Measuring attention takes no more. A kind without samples
(`samples` is not among its keys) is read whole by analyses of its own. A kind with a `head` can be evaluated as well:
it says what a model reads, should answer and does answer, and how good the answers are.

Planning imports the kinds, and so they import heavy libraries, NumPy included, inside functions alone.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from headtypes.core.errors import InputError, nearest
from headtypes.core.files import StrPath, numbered_rows, write_json_lines

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import torch
    from transformers import PreTrainedTokenizerBase

    from headtypes.data.windows import Windows
    from headtypes.models.records import ModelRecord


class StrictRecord:
    """Base of dataclasses that are read from JSON only with all fields, of the right types, and no other fields."""

    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)


Record = TypeVar("Record", bound=StrictRecord)


@dataclass(frozen=True, slots=True)
class Sample(StrictRecord):
    """One input of a model, as text: one text, or two texts that a model reads together."""

    id: str
    first: str
    second: str | None


def write_records(path: StrPath, records: Sequence[StrictRecord]) -> None:
    write_json_lines(path, (_adapter(type(record)).dump_python(record) for record in records))


def read_records(path: StrPath, record: type[Record]) -> list[Record]:
    """Return the records of a class `record` in a file with one JSON object per line.

    Raises `InputError` with the line and field that is damaged, and for a file without lines.
    """
    adapter, records = _adapter(record), []
    for number, line in numbered_rows(path):
        try:
            records.append(adapter.validate_json(line))
        except ValidationError as error:
            first, what = error.errors(include_url=False)[0], f"not a valid {record.__name__.lower()}"
            problem = ": ".join(map(str, [*first["loc"][:1], first["msg"]]))
            raise InputError(f"{path}, line {number} is {what} ({problem}); delete the file and run again.") from error
    return records


@cache
def _adapter(record: type[Record]) -> TypeAdapter[Record]:
    return TypeAdapter(record)


# The column of a table of scores with the number of tokens of a row, if its other columns are sums over tokens.
SIZES = "tokens"


@dataclass(frozen=True)
class Metric:
    """A measure of how well a model answers: the mean of a column of its table of scores.

    The table has a row for each question, pair or document. If the table has a column "tokens", the number of tokens of
    each row, the metric is the sum of `column` divided by the sum of "tokens".

    name, unit: name and unit of the metric in files; the unit is "%" or "nats per token".
    title, label: the metric's name in a sentence, and as the header of a column.
    decimals: number of decimals that are shown.
    beside: another key of `Kind.mean_scores` that tables show too, such as perplexity; "" for none.
    note: explanation on a page that shows the metric.
    """

    name: str
    unit: str
    higher_is_better: bool
    title: str
    label: str
    column: str
    decimals: int = 2
    beside: str = ""
    note: str = ""

    @property
    def steps(self) -> str:
        return "points" if self.unit == "%" else self.unit

    @property
    def reach(self) -> tuple[float, float] | None:
        """The smallest and largest possible drop of one question, in the metric's unit; None without bounds."""
        return (-100.0, 100.0) if self.unit == "%" else None

    @property
    def change(self) -> str:
        return "drop" if self.higher_is_better else "rise"

    def drop(self, before, after):
        """Return how much worse the metric is after a change, in its unit; negative if the metric is better.

        before, after: the metric before and after the change, numbers or arrays.
        """
        return before - after if self.higher_is_better else after - before


EXACT_MATCH = Metric("exact_match", "%", higher_is_better=True, title="exact match", label="EM", column="exact_match")
F1 = Metric("f1", "%", higher_is_better=True, title="F1", label="F1", column="f1")
ACCURACY = Metric("accuracy", "%", higher_is_better=True, title="accuracy", label="Acc.", column="correct")
NORMALISED_ACCURACY = Metric(
    "accuracy_normalised",
    "%",
    higher_is_better=True,
    title="normalised accuracy",
    label="Acc. norm.",
    column="correct_normalised",
    note="On multiple choice, a model answers with the choice that it finds likeliest after the question: "
    "*Acc.* by the sum of the log-likelihoods of the choice's tokens, *Acc. norm.* by this sum divided by the "
    "choice's number of characters; `acc` and `acc_norm` of the Language Model Evaluation Harness.",
)
LOSS = Metric(
    "loss",
    "nats per token",
    higher_is_better=False,
    title="loss",
    label="Loss",
    column="loss",
    decimals=3,
    beside="perplexity",
    note="On texts, the score is the loss, the mean cross entropy of a predicted token in nats, with intervals "
    "over documents, or pairs of texts; perplexity is its exponential. What a condition costs is by how much "
    "the loss rises: here too, a positive number is for the worse.",
)

# By kind of task that models answer: its metrics, the main one first, and the name of its rows, in the plural.
MEASURES: dict[str, tuple[tuple[Metric, ...], str]] = {
    "question_answering": ((EXACT_MATCH, F1), "questions"),
    # F1 is no mean over pairs, so that it has no interval.
    "sentence_pair": ((ACCURACY, F1), "pairs"),
    "multiple_choice": ((ACCURACY, NORMALISED_ACCURACY), "questions"),
    "text": ((LOSS,), "documents"),
}
METRICS: dict[str, Metric] = {metric.name: metric for metrics, _ in MEASURES.values() for metric in metrics}
MAIN_METRICS: dict[str, Metric] = {metrics[0].name: metrics[0] for metrics, _ in MEASURES.values()}


def counted_by(metrics: Collection[Metric]) -> str:
    """Return the plural name of the rows that `metrics` are over, such as "questions"; "rows" for unknown metrics."""
    return next((counted for known, counted in MEASURES.values() if set(metrics) <= set(known)), "rows")


def metrics_in(scores: pd.DataFrame) -> list[Metric]:
    return [metric for metric in METRICS.values() if metric.column in scores]


def sizes_in(scores: pd.DataFrame) -> np.ndarray | None:
    """Return the number of tokens that each row of scores sums over, [row]; None if every row counts once."""
    return scores[SIZES].to_numpy(float) if SIZES in scores else None


def tested_metric(names: Collection[str]) -> Metric:
    """Return the metric by which heads are compared: F1 if `names` has exact_match, else the main metric in `names`."""
    return F1 if EXACT_MATCH.name in names else next(main for name, main in MAIN_METRICS.items() if name in names)


# The `head` of a kind that a language model answers, by its head for masked words or for the next token.
LANGUAGE_MODEL = "language_model"

# {field of a row: column of a table}; None for a kind whose data are no tables.
Columns = Mapping[str, str] | None
# Takes a number of inputs, and returns the indices of those that are drawn, in rising order.
Draw = Callable[[int], Sequence[int]]
# {id of a row: answer}, and a table of scores with one row for each question, pair or document.
Scored = tuple[dict[str, str], "pd.DataFrame"]


class Rows(list):
    """A list of rows of a task.

    left_out: {description of some entries of the data: number of these entries}, for entries that became no row.
    """

    def __init__(self, rows: Iterable, left_out: Mapping[str, int]):
        super().__init__(rows)
        self.left_out = {what: count for what, count in left_out.items() if count}


class DataColumn(NamedTuple):
    """A column of a table of data that the configuration can name.

    default: default name of the column, None if the column may be absent; doc: what the column holds.
    """

    default: str | None
    doc: str = ""


ID = DataColumn(None, "Column of the sample's id; without it, the row number.")


def check_same(rows: Sequence, windows: Windows) -> None:
    """Raise `InputError` unless the windows were built from rows with the same ids in the same order."""
    if [row.id for row in rows] != windows.question_ids:
        raise InputError("The windows were built from other questions or pairs than these; build them again.")


class Kind(ABC):
    """A kind of task, such as question answering.

    name, title: name in the configuration, and in a sentence.
    row: the class of the kind's rows, a dataclass and `StrictRecord`.
    form, formats: how `fetching.read_file` reads a file of data (`json`; a `table` with named columns; `files` that the
        kind reads itself), and the formats of such a file in words.
    keys, source_keys: keys of a task, and of its source, that the configuration allows for this kind, not for all.
    columns: {field of a row: column of a table that the configuration can name}.
    truncation: which text of a sample that is too long is cut, in a tokenizer's terms.
    running: whether the two texts of a sample are joined into one if the tokenizer puts no `[SEP]` between them.
    head: the model head that answers the kind (a key of `loading.HEADS`, or `LANGUAGE_MODEL`); None if no model does.
    window_keys: keys of the configuration's `windows`, other than `max_seq_length`, that `cut_windows` takes.
    answer_keys: keys of the configuration's `windows` that `read_answers` takes.
    windows_of_row: number of windows that a row becomes, roughly, for estimates of time.
    without_reading: keys of the configuration's `ablation` that mean nothing for this kind.
    metrics, counted: metrics of the kind, the main metric first, and the plural name of its rows.
    target_names: arguments of the model's `forward` for the columns of `training_targets`.
    answer_columns: names of the arrays that `read_answers` returns.
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
        """Return the rows of a file's data. Raises `InputError` if the data do not have the form of this kind.

        data: by the kind's `form`, parsed JSON, a DataFrame, or the paths of one file or of all files in a folder.
        where: the file or folder, for messages. key: the configuration's key of the task's columns, for messages.
        columns: {field of a row: column of a table}, for a kind whose data are a table.
        """

    def rows_of_hub(self, data: Any, where: str, key: str, columns: Columns) -> list:
        """Return the rows of a dataset of the Hub. Raises `InputError` if its data do not have the form of this kind.

        data: the dataset. where: its name, and key: the configuration's key of the task's columns, for messages.
        columns: {field of a row: column of the dataset}.
        """
        raise InputError(f"{where}: a task of kind {self.name} cannot be read from the Hub; give a local file.")

    def draw_samples(self, rows: Sequence, draw: Draw) -> list[Sample]:
        """Return the samples that a function draws from all samples of the rows.

        draw: function from the number of all samples to the indices of the drawn samples, in rising order.
        """
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
        """Return rows encoded as windows that a model reads.

        max_seq_length: most tokens of a window, fewer if the model takes fewer.
        shape: values of the kind's `window_keys`; for kinds whose head is `LANGUAGE_MODEL`, the `seed` of masked words.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def answer_targets(self, rows: Sequence, windows: Windows, record: ModelRecord) -> np.ndarray:
        """Return the correct class of each softmax of the model head, such as first and last token of an answer.

        Returns [window, softmax] int, negative in a window without the answer; for a language model, which has no such
        classes, [window, 1], the number of tokens to predict.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def training_targets(self, rows: Sequence, windows: Windows) -> tuple[np.ndarray, list[str] | None]:
        """Return targets for fine-tuning, [window, softmax] int, and the names of the labels, None without labels.

        A target is the right class, from 0, of one softmax of the model head, such as that over first tokens.
        """
        raise NotImplementedError(f"No model is fine-tuned on a task of kind {self.name}.")

    def answer_logits(self, output: Any, mask: torch.Tensor) -> torch.Tensor:
        """Return the logits of a model's output, [input, class, softmax]; unless overridden, of a single softmax.

        mask: [input, token], 0 for padding.
        """
        return output.logits[:, :, None]

    def check_answerable(self, rows: Sequence, windows: Windows, record: ModelRecord) -> None:
        check_same(rows, windows)

    def read_answers(self, output: Any, sentences: list[np.ndarray], **settings: int) -> tuple[np.ndarray, ...]:
        """Return one array [window] for each of `answer_columns`, from the model's output for a batch.

        sentences: for each window, the sentence number of each token, -1 for a special token, [token].
        settings: values of the kind's `answer_keys`.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def score_answers(
        self, rows: Sequence, windows: Windows, record: ModelRecord, values: tuple[np.ndarray, ...]
    ) -> Scored:
        """Return {id: answer} and a table of scores with one row for each question, pair or document.

        values: the arrays of `read_answers` for all windows; for a language model, the loss in nats and the number of
            predicted tokens of each window.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def mean_scores(self, scores: pd.DataFrame) -> dict[str, float | int]:
        """Return {name: value} of each metric, in its unit, and of the number of rows, such as `n_questions`."""
        means = {metric.name: float(scores[metric.column].mean()) for metric in self.metrics}
        return {**means, f"n_{self.counted}": len(scores)}


# Editors count the lines of a file from its header.
_ROW_1 = "row 1 is the first below a header"


class TableKind(Kind):
    """A kind of task whose data are a table with named columns, in a file or on the Hub."""

    form = "table"

    def rows_of_hub(self, data, where, key, columns):
        return self.rows_of_file(data.to_pandas(), where, key, columns)


def checked_table(data: Any, where: str, key: str, columns: Iterable[str]) -> Any:
    """Return a pandas table with its column names as text.

    where: the file, and key: the configuration's key of the columns, for messages.
    Raises `InputError` if the table has no rows, or lacks one of `columns`.
    """
    if data.empty:
        raise InputError(f"{where} has no rows.")
    table = data.set_axis(map(str, data.columns), axis=1)
    names = list(table)
    for column in columns:
        if column not in names:
            near = nearest(column, names)
            raise InputError(f"{key}: {where} has no column {column}.{near} It has {', '.join(names)}.")
    return table


def texts_of_rows(table: Any, where: str, columns: Sequence[str]) -> list[Any]:
    """Return the texts of each column of a pandas table, [column][row].

    Raises `InputError` for a row without text in a column; where: the file, for messages.
    """
    texts = [table[column].to_numpy(object) for column in columns]
    for row, of_row in enumerate(zip(*texts, strict=True), start=1):
        if not all(isinstance(text, str) and text.strip() for text in of_row):
            raise InputError(f"{where}: row {row} has no text in {' or '.join(columns)}; {_ROW_1}.")
    return texts


def read_ids(table: Any, where: str, column: str | None) -> list[str]:
    """Return the id of each row as text: the value of a column, or the row's number from 0 if `column` is None."""
    return list(map(str, range(len(table)) if column is None else plain_values(table, where, column, booleans=False)))


def plain_values(table: Any, where: str, column: str, booleans: bool = True) -> list[str | int | bool]:
    """Return a column of a pandas table as a list of texts, whole numbers as int, and true and false if `booleans`.

    Raises `InputError` for any other value, and for the empty text; where: the file, for messages.
    """
    plain = []
    for row, value in enumerate(table[column].to_numpy(object), start=1):
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # pandas turns whole numbers into floats where one is missing.
        if value == "" or not isinstance(value, str | int) or (isinstance(value, bool) and not booleans):
            raise InputError(
                f"{where}: row {row} has {value!r} in {column}; text or a whole number is needed; {_ROW_1}."
            )
        plain.append(value)
    return plain


# {name of a kind, and of its module: its class}, in the order in which the documentation lists them.
_CLASSES = {
    "question_answering": "QuestionAnswering",
    "sentence_pair": "SentencePair",
    "multiple_choice": "MultipleChoice",
    "text": "Text",
    "treebank": "Treebank",
    "coreference": "Coreference",
}


def module_of(kind: str) -> str:
    return f"headtypes.data.kinds.{kind}"


class _Kinds(Mapping[str, Kind]):
    def __getitem__(self, name: str) -> Kind:
        return _loaded(name, _CLASSES[name])

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


@cache
def _loaded(name: str, kind: str) -> Kind:
    return getattr(importlib.import_module(module_of(name)), kind)()


KINDS: Mapping[str, Kind] = _Kinds()


def read_rows(path: StrPath, kind: str) -> list:
    return read_records(path, KINDS[kind].row)
