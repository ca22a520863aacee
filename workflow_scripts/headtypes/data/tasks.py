"""Kinds of task: what the module of a kind declares, its rows and samples as files, its metrics, all kinds by name.

Planning imports the kinds, and so they import heavy libraries, NumPy included, inside functions alone.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
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
    """The base of dataclasses that are read from JSON only if it has their fields, no others, with the right types."""

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
    write_json_lines(path, map(asdict, records))


def read_records(path: StrPath, record: type[Record]) -> list[Record]:
    """Return a file's lines, JSON objects, as instances of `record`; raise `InputError` for an invalid line."""
    adapter, records = TypeAdapter(record), []
    for number, line in numbered_rows(path):
        try:
            records.append(adapter.validate_json(line))
        except ValidationError as error:
            first, what = error.errors(include_url=False)[0], f"not a valid {record.__name__.lower()}"
            problem = ": ".join(map(str, [*first["loc"][:1], first["msg"]]))
            raise InputError(f"{path}, line {number} is {what} ({problem}); delete the file and run again.") from error
    return records


# The column of scores with the number of tokens of a row, if the other columns are sums over tokens.
SIZES = "tokens"


@dataclass(frozen=True)
class Metric:
    """A measure of how well a model answers, computed from a table of scores with a row for each question or document.

    name, unit: name and unit of the metric in files; the unit is "%" or "nats per token".
    title, label: the metric's name in a sentence, and as the header of a column.
    column: column of the table. The metric is its mean; if the table has a column "tokens", sum(column) / sum(tokens).
    beside: key of a second result of `Kind.mean_scores` to show with this one, such as "perplexity"; "" for none.
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
        """The smallest and largest possible drop of the metric on one question, in percent; None without bounds."""
        return (-100.0, 100.0) if self.unit == "%" else None

    @property
    def change(self) -> str:
        return "drop" if self.higher_is_better else "rise"

    def drop(self, before, after):
        """Return by how much `after` is worse than `before`, two values of the metric; negative if it is better."""
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
    """Return the noun for a task's rows by its metrics, such as "questions"; "rows" if no kind of task has them all."""
    return next((counted for known, counted in MEASURES.values() if set(metrics) <= set(known)), "rows")


def metrics_in(scores: pd.DataFrame) -> list[Metric]:
    return [metric for metric in METRICS.values() if metric.column in scores]


def sizes_in(scores: pd.DataFrame) -> np.ndarray | None:
    """Return the number of tokens of each row of a table of scores, [row]; None if it has no column "tokens"."""
    return scores[SIZES].to_numpy(float) if SIZES in scores else None


def tested_metric(names: Collection[str]) -> Metric:
    """Return the metric to compare heads by: F1 if `names` of metrics have "exact_match", else accuracy, else loss."""
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
    """A list of a task's rows, with `left_out`: {reason: number of entries of the data that became no row}."""

    def __init__(self, rows: Iterable, left_out: Mapping[str, int]):
        super().__init__(rows)
        self.left_out = {what: count for what, count in left_out.items() if count}


class DataColumn(NamedTuple):
    """A column of a user's table: its default name, None if a table may lack it, and what the column holds."""

    default: str | None
    doc: str = ""


ID = DataColumn(None, "Column of the sample's id; without it, the row number.")


def check_same(rows: Sequence, windows: Windows) -> None:
    """Raise `InputError` unless the windows were built from rows with the same ids as `rows`, in the same order."""
    if [row.id for row in rows] != windows.question_ids:
        raise InputError("The windows were built from other questions or pairs than these; build them again.")


class Kind(ABC):
    """A kind of task, such as question answering: how its rows are read, cut into windows, answered and scored.

    name, title: the kind's name in the configuration, and in a sentence.
    row: class of a row, a dataclass and `StrictRecord`.
    form: how files are parsed: as `json`, as `table`, or by the kind itself (`files`). formats: file formats, in words.
    keys: keys of a task that not every kind has. Samples are drawn only if "samples" is a key.
    source_keys: keys of a task's `source` that not every kind has.
    columns: {field of a row: key of the task's `columns` in the config, which names the column of a user's table}.
    truncation: argument `truncation` of a tokenizer, which says which text of a too long sample is cut.
    running: whether two texts become one if a tokenizer puts no `[SEP]` between them.
    head: output layer that answers, a key of `loading.HEADS` or `LANGUAGE_MODEL`; None if no model answers.
    window_keys: keys of the configuration's `windows` that `cut_windows` takes besides `max_seq_length`.
    answer_keys: keys of the configuration's `windows` that `read_answers` takes.
    without_reading: keys of the configuration's `ablation` that change nothing for this kind.
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
    without_reading: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def rows_of_file(self, data: Any, where: str, key: str, columns: Columns) -> list:
        """Return the data of a file as a list of the kind's rows; raise `InputError` if they are not of this kind.

        data: by the kind's `form`, parsed JSON, a DataFrame, or the paths of one file or of all files in a folder.
        where, key: the file or folder, and the configuration's key, as `tasks.squad.columns`, for messages.
        columns: {field of a row: column of a table}; None for a kind whose data are no table.
        """

    def rows_of_hub(self, data: Any, where: str, key: str, columns: Columns) -> list:
        """Return a `datasets.Dataset` of the Hub as rows; raise `InputError` if the kind reads only local files.

        where, key: name of the data, and the configuration's key, as `tasks.squad.columns`, for messages.
        columns: {field of a row: column of the data}.
        """
        if self.form == "table":
            return self.rows_of_file(data.to_pandas(), where, key, columns)
        raise InputError(f"{where}: a task of kind {self.name} cannot be read from the Hub; give a local file.")

    def draw_samples(self, rows: Sequence, draw: Draw) -> list[Sample]:
        """Return the samples with the indices draw(n), where n is the number of all samples that the rows give."""
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
        """Return a task's rows as windows of a model's tokens.

        max_seq_length: most tokens of a window; if the model takes fewer, a kind uses fewer or raises `InputError`.
        shape: a value for each of the kind's `window_keys`; if the kind's `head` is `LANGUAGE_MODEL`, also `seed`, for
            the draw of masked words.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def answer_targets(self, rows: Sequence, windows: Windows, record: ModelRecord) -> np.ndarray:
        """Return the right answer of each window, int [window, 2] in question answering, else [window, 1]; -1 for none.

        Question answering: indices of the answer's first and last token, if the window holds the whole answer.
        Pairs of texts: index of the label. Texts: number of tokens to predict in the window.
        Multiple choice, with one window for each choice: number of tokens to predict for the right choice, else -1.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def training_targets(self, rows: Sequence, windows: Windows) -> tuple[dict[str, np.ndarray], list[str] | None]:
        """Return (targets, names): {argument of the model's `forward`: [window] int} to train on, and labels' names.

        Pairs of texts: {"labels": index in names}. Question answering: {"start_positions", "end_positions": index of
        the answer's first or last token in the window, 0 if it lacks the answer}; names is None.
        """
        raise NotImplementedError(f"No model is fine-tuned on a task of kind {self.name}.")

    def answer_logits(self, output: Any, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return logits of classes, [input, class, 1], or of an answer's ends, [input, token, 2], -inf at padding."""
        return output.logits[:, :, None]

    def read_answers(self, output: Any, sentences: list[np.ndarray], **settings: int) -> dict[str, np.ndarray]:
        """Return the answers in a model's output for a batch of windows, such as {"label": [window] int} for pairs.

        sentences: for each window, the sentence number of each token, -1 for a special token, [token].
        settings: values of the kind's `answer_keys`.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def score_answers(
        self, rows: Sequence, windows: Windows, record: ModelRecord, values: Mapping[str, np.ndarray]
    ) -> Scored:
        """Return ({id: answer as text}, table of scores with a row for each question, pair or document).

        values: the arrays of `read_answers`, [window] over all windows. For a language model: "tokens", the number of
            tokens to predict in a window, and "loss", the sum of their losses in nats.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")

    def mean_scores(self, scores: pd.DataFrame) -> dict[str, float | int]:
        """Return metrics over all rows, and numbers of rows, such as {"exact_match": 81, "f1": 88, "n_questions": 200}.

        scores: the table of `score_answers`. Names and units of metrics are in `MEASURES`.
        """
        raise NotImplementedError(f"No model answers a task of kind {self.name}.")


# Editors count the lines of a file from its header.
ROW_1 = "row 1 is the first below a header"


def checked_table(data: Any, where: str, key: str, columns: Iterable[str]) -> Any:
    """Return a pandas table, `data`, with column names as text; raise `InputError` if it has no rows or lacks a column.

    columns: names of needed columns. where, key: the file, and the config's key that names the columns, for messages.
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


def read_ids(table: Any, where: str, column: str | None) -> list[str]:
    """Return each row's id as text: its value in `column`, or its number from 0 for None; where: file, for messages."""
    return list(map(str, range(len(table)) if column is None else plain_values(table, where, column, booleans=False)))


def plain_values(table: Any, where: str, column: str, booleans: bool = True) -> list[str | int | bool]:
    """Return a column as texts, whole numbers and, if `booleans`, truth values; where: the file, for messages.

    Raises `InputError` for any other value, for an empty text and for a missing value.
    """
    plain = []
    for row, value in enumerate(table[column].to_numpy(object), start=1):
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # pandas turns whole numbers into floats where one is missing.
        if value == "" or not isinstance(value, str | int) or (isinstance(value, bool) and not booleans):
            raise InputError(
                f"{where}: row {row} has {value!r} in {column}; text or a whole number is needed; {ROW_1}."
            )
        plain.append(value)
    return plain


# Names of kinds and of their modules, in the order of the documentation; the class of `a_kind` is `AKind`.
_NAMES = ["question_answering", "sentence_pair", "multiple_choice", "text", "treebank", "coreference"]


def module_of(kind: str) -> str:
    return f"headtypes.data.kinds.{kind}"


class _Kinds(Mapping[str, Kind]):
    def __getitem__(self, name: str) -> Kind:
        if name not in _NAMES:
            raise KeyError(name)
        return _loaded(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


@cache
def _loaded(name: str) -> Kind:
    return getattr(importlib.import_module(module_of(name)), name.title().replace("_", ""))()


KINDS: Mapping[str, Kind] = _Kinds()


def read_rows(path: StrPath, kind: str) -> list:
    return read_records(path, KINDS[kind].row)
