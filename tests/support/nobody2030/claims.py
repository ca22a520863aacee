"""What the paper published, its claim, and how partitions are compared with it."""

from collections.abc import Mapping

from headtypes.analyses.types.partitions import read_partition
from headtypes.papers import comparison
from headtypes.papers.claims import Claims
from headtypes.papers.comparison import Subject, comparison_table, subject_parts, tidy_table, value_row
from headtypes.papers.paper import Compared
from headtypes.papers.published import Published
from headtypes.papers.quantities import Measured, Quantities

KEYS = ["model", "partition"]


class Nobody2030(Published):
    """Everything that is compared with this paper."""

    model: str
    most: float

    @property
    def rows(self) -> tuple[str, ...]:
        """What a model can stand beside."""
        return ("main",)


claim = Claims("heads")


claim(
    "no-type-has-all",
    place="section 2",
    text="No type has more than half of the heads.",
    wording="no type rules",
    limit="half of the heads",
    ask=lambda quantities: [quantities.quantity("share", "largest share of a type").below(50)],
)


def compare(partitions: Mapping[tuple[str, str], str], published: Nobody2030) -> Compared:
    """The largest type of each partition beside the paper's."""
    theirs = Quantities({"share": Measured(published.most)}, published=published)
    quantities, subjects = {}, []
    for key, path in partitions.items():
        largest = read_partition(path).table["type"].value_counts(normalize=True).max()
        ours = quantities[key] = Quantities({"share": Measured(100 * largest)})
        values = [value_row("Table 1", "share", "largest share", ours["share"], published.most)]
        subjects.append(Subject(dict(zip(KEYS, key, strict=True)), claim, ours, theirs, values))
    table = comparison_table(subjects, [*KEYS, *comparison.COLUMNS, "doubtful"])
    page = comparison.comparison_page("Beside Nobody", ["Words."], table, KEYS, claim, published, [], subject_parts)
    return Compared(tidy_table(quantities, KEYS), table, page)
