"""Our values beside the published ones and the verdicts on a paper's claims: the rows, and how a page shows them."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from headtypes.papers.claims import NO_VERDICT, VERDICTS, Claim, judge
from headtypes.papers.markdown import markdown_table
from headtypes.papers.published import Note, Published
from headtypes.papers.quantities import Measured, Quantities

# What a paper's comparison has in every row, between the names of its subjects and columns of its own.
COLUMNS = [
    *("kind", "place", "id", "quantity", "ours", "low", "high", "published", "difference"),
    *("verdict", "reason", "remark"),
]
NUMBERS = ("ours", "low", "high", "published", "difference")

HOW_CLAIMS_ARE_JUDGED = (
    "A claim holds or fails where the whole interval of its quantity lies on one side of the limit, and is open "
    "where the limit lies inside the interval; without an interval the value itself decides."
)


def claim_row(claim: Claim, ours: Quantities, theirs: Quantities, published: Published) -> dict:
    """The verdict on a claim by our quantities, with the numbers of the first rule that decides, beside the paper's."""
    verdict = judge(claim, ours, published)
    row = {"kind": "claim", "place": claim.place, "id": claim.id, "quantity": claim.text}
    if verdict.deciding is not None:
        findings = judge(claim, theirs, published).findings
        value = findings[verdict.deciding].measured.value if findings else None
        row |= _beside(verdict.findings[verdict.deciding].measured, value)
    return row | {"verdict": verdict.verdict, "reason": verdict.reason, "remark": ""}


def value_row(place: str, id_: str, quantity: str, ours: Measured, theirs: float | None, published: Published) -> dict:
    """One published value, where it stands in the paper, and ours beside it."""
    row = {"kind": "figure", "place": place, "id": id_, "quantity": quantity, **_beside(ours, theirs)}
    return row | {"verdict": "", "reason": "", "remark": published.remarks(id_)}


def verdict_counts(table: pd.DataFrame, keys: Sequence[str]) -> str:
    """How many claims have which verdict, one row of Markdown per subject.

    table: claims and values of all subjects, which the columns `keys` name.
    """
    claims = table[table["kind"] == "claim"]
    counts = [
        dict(zip(keys, subject, strict=True)) | {name: int((rows["verdict"] == name).sum()) for name in VERDICTS}
        for subject, rows in claims.groupby(list(keys), sort=False)
    ]
    return markdown_table(pd.DataFrame(counts))


def subject_parts(rows: pd.DataFrame) -> Iterator[str]:
    """The rows of one subject as parts of a page: verdicts first, then values by their place in the paper."""
    yield from _claim_parts(rows[rows["kind"] == "claim"])
    yield from _value_parts(rows[rows["kind"] == "figure"])


def note_parts(notes: Iterable[Note]) -> Iterator[str]:
    """The notes on the published numbers, at the end of a page."""
    yield "## Notes on the published values"
    yield "".join(f"- {note.place}: {note.text}\n" for note in notes)


def tidy_table(subjects: Mapping[tuple[str, ...], Quantities], keys: Iterable[str]) -> pd.DataFrame:
    """All quantities, one per row: the columns `keys`, then quantity, value, low, high (NaN without an interval).

    subjects: by what the keys name, such as a model and a partition.
    """
    keys = list(keys)
    rows = [
        [*subject, name, it.value, it.low, it.high]
        for subject, quantities in subjects.items()
        for name, it in quantities.by_name.items()
    ]
    table = pd.DataFrame(rows, columns=[*keys, "quantity", "value", "low", "high"])
    return table.astype(dict.fromkeys(("value", "low", "high"), float))


def _beside(ours: Measured, published: float | None) -> dict:
    row = {"ours": ours.value, "low": ours.low, "high": ours.high, "published": published}
    return row if published is None else row | {"difference": ours.value - published}


def _claim_parts(claims: pd.DataFrame) -> Iterator[str]:
    judged = claims[claims["verdict"] != NO_VERDICT]
    if not judged.empty:
        shown = judged[["id", "quantity", "place", "verdict"]]
        yield markdown_table(shown.rename(columns={"id": "", "quantity": "claim"}))
        yield "What decides:"
        yield "".join(f"- {id_}: {reason}.\n" for id_, reason in zip(judged["id"], judged["reason"], strict=True))
    others = claims[claims["verdict"] == NO_VERDICT]
    if not others.empty:
        yield "No verdict:"
        groups = others.groupby("reason", sort=False)["id"]
        yield "".join(f"- {reason}: {', '.join(ids)}.\n" for reason, ids in groups)


def _value_parts(values: pd.DataFrame) -> Iterator[str]:
    for place, rows in values.groupby("place", sort=False):
        shown = rows[["quantity", "ours", "published", "difference", "remark"]]
        if rows["low"].notna().any():
            ends = zip(rows["low"], rows["high"], strict=True)
            shown.insert(2, "interval", [str(Measured(math.nan, low, high)) for low, high in ends])
        yield f"### {place[0].upper()}{place[1:]}"
        yield markdown_table(shown)
