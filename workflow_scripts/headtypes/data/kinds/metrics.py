"""Metrics of each kind of task: their names, which way is better, and what each is a mean over."""

from collections.abc import Collection
from dataclasses import dataclass

# Of a table of scores: over how many tokens the sums of a row are. Where it lacks this column, every row counts once.
SIZES = "tokens"


@dataclass(frozen=True)
class Metric:
    """One measure of how well a model does.

    A *drop* is how much a metric falls, or rises where lower is better; positive is worse.

    name, unit: in files, and of the metric; title, label: in a sentence, and above a column.
    column: in a table of scores with a row for each question, pair or document. The metric is its mean or, where the
        table has `SIZES`, its sum divided by the sum of these.
    decimals: number that is shown; beside: another number of `Kind.mean_scores` that tables show beside it.
    note:   the explanation on a page with tables of it.
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
        """The least and the largest drop that a question can have; None where there is no end."""
        return (-100.0, 100.0) if self.unit == "%" else None

    @property
    def change(self) -> str:
        return "drop" if self.higher_is_better else "rise"

    def drop(self, before, after):
        """Return the loss from one value to another, numbers or arrays of them; positive if it is for the worse."""
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

# Of each kind of task that models answer: its metrics, the main one first, and what rows are called, in the plural.
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
    """Return the name of the rows ("questions") of the first kind that has all of these metrics."""
    return next((counted for known, counted in MEASURES.values() if set(metrics) <= set(known)), "rows")


def tested_metric(names: Collection[str]) -> Metric:
    """Choose the metric by which heads are compared: for answers F1, which tells worse ones too."""
    return F1 if EXACT_MATCH.name in names else next(it for name, it in MAIN_METRICS.items() if name in names)
