"""What the scores of a kind of task are called, which way is better, and what each is a mean over."""

from dataclasses import dataclass

# Of a table of scores: over how many tokens the sums of a row are. Where it lacks this column, every row counts once.
SIZES = "tokens"


@dataclass(frozen=True)
class Metric:
    """One measure of how well a model does.

    A *drop* is what something costs: how much the metric falls, or, of one that is better when it is lower, how much it
    rises. A positive drop is always for the worse.

    name:   in files.
    unit:   of the metric.
    title, label: in a sentence, and above a column.
    column: of a table of scores, with a row for each question, pair or document. The metric is the mean of the column
        or, where the table has `SIZES`, the column's sum divided by the sum of these.
    decimals: that are shown of it.
    beside: another number of `Kind.mean_scores` that tables show beside it.
    note:   what a page with tables of it explains.
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
        """The unit of a difference of two."""
        return "points" if self.unit == "%" else self.unit

    @property
    def change(self) -> str:
        """What a change for the worse is called."""
        return "drop" if self.higher_is_better else "rise"

    def drop(self, before, after):
        """What is lost from one value to another, numbers or arrays of them; positive if it is for the worse."""
        return before - after if self.higher_is_better else after - before


# Those of several kinds.
ACCURACY = Metric("accuracy", "%", higher_is_better=True, title="accuracy", label="Acc.", column="correct")
F1 = Metric("f1", "%", higher_is_better=True, title="F1", label="F1", column="f1")
