"""The comparison with a paper: verdicts on its claims, and published values next to ours, as a table and as a page."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from headtypes.core.statistics import ALPHA, Measured
from headtypes.core.table_files import read_csv
from headtypes.core.tables import document, markdown_table
from headtypes.papers.claims import (
    BASES,
    FAILS,
    FEW,
    HOLDS,
    NO_VERDICT,
    OPEN,
    VERDICTS,
    Claim,
    Quantities,
    Verdict,
    correct,
    join,
    judge,
)
from headtypes.papers.paper import Key, Published

# Columns of every paper's comparison. Names of its subjects stand before them, and columns of its own after them.
COLUMNS = [
    *("kind", "basis", "place", "id", "quantity", "ours", "unit", "low", "high", "over", "published", "difference"),
    *("verdict", "p", "p_holm", "verdict_holm", "reason", "remark"),
]
# The name of the config's own reading, where verdicts stand under several.
OWN_READING = "ablation"
# How tables are read: a name may be a number, or what pandas takes for a missing value.
NAMED = {
    "dtype": dict.fromkeys(("model", "partition", "task", "condition", "doubtful"), str),
    "keep_default_na": False,
    "na_values": [""],
}
# Ends the kind of a row that is about several models.
TOGETHER = " over models"
NUMBERS = ("ours", "low", "high", "published", "difference", "p", "p_holm")
# Fewer models agree in more than 5 % of trials even where each verdict is right and half of all trainings differ.
FEWEST = 5
# Half of a 95 % interval of a normal distribution, in standard errors.
_HALF = -stdtrit(math.inf, ALPHA / 2)

HOW_CLAIMS_ARE_JUDGED = (
    "*Stated* claims are in the paper's words. Two kinds are counted apart: *inferred* claims follow from its words, "
    "and claims *from the table* rest on its figures alone.\n\n"
    "A claim holds or fails if the whole interval of its quantity is on one side of the limit. It is open if the "
    "interval contains the limit, or if the paper can be read in several ways and the verdict depends on the reading. "
    "A claim about several quantities fails if one of them is on the wrong side; each is tested at 5 percent divided "
    "by their number. Without an interval the value alone decides. Next to a limit stand other limits that would "
    f"give the same verdict. Intervals are of 95 %. {FEW}\n\n"
    "*Corrected* is the verdict after Holm's procedure, since some of many claims would be decided by chance. The "
    "procedure covers all claims of a section that have an interval and that the config names (`tests: claims`). "
    "p is the p-value of the limit, before and after.\n\n"
    "Models that differ in their random seed alone are also judged together: a claim holds or fails if it does in "
    "each of them. These verdicts are not corrected, and means over the models decide nothing."
)


class Subject(NamedTuple):
    """A model with one partition or one task, which is compared with a paper.

    names: {column: cell} of the cells that all its rows share: model, partition or task, and number of inputs.
    ours, theirs: quantities measured, and published. value_rows: rows on published values, made by `value_row`.
    """

    names: Mapping[str, str | float | None]
    claims: Sequence[Claim]
    ours: Quantities
    theirs: Quantities
    value_rows: Iterable[dict] = ()


# A subject, the verdicts on its claims, and its rows of values.
_Judged = tuple[Subject, list[Verdict], list[dict]]


def comparison_table(
    subjects: Iterable[Subject],
    columns: Sequence[str],
    repeats: Mapping[str, Sequence[str]] | None = None,
    tested: Collection[str] = tuple(BASES),
) -> pd.DataFrame:
    """Return a table with a row for each verdict on a claim and for each published value next to ours.

    subjects: models, each with a partition or task. columns: those of the table, keys of `Subject.names` and `COLUMNS`.
    repeats: {name of a group: models that differ in a random seed alone}. Five or more models of a group are also
        judged together on each partition or task. Rows about groups come last; their `kind` ends in " over models".
    tested: the kinds of claims, such as "stated", whose verdicts are corrected for their number by Holm's procedure.
    """
    judged: list[_Judged] = []
    for subject in subjects:
        verdicts = [judge(claim, subject.ours) for claim in subject.claims]
        remarks = subject.theirs.published.remarks
        judged.append((subject, verdicts, [{"remark": remarks(row["id"]), **row} for row in subject.value_rows]))
    rows = [
        {**subject.names, **row}
        for subject, verdicts, figures in judged
        for row in (*_claim_rows(subject, verdicts, tested), *figures)
    ]
    for name, models in (repeats or {}).items():
        alike: dict[tuple, list[_Judged]] = {}
        for one in judged:
            subject = one[0]
            if subject.names["model"] in models:
                data = subject.names.get("partition"), subject.names.get("task"), subject.claims[0].about
                alike.setdefault(data, []).append(one)
        for several in alike.values():
            names = several[0][0].names | {"model": name}
            together = _rows_together(several) if len(several) >= FEWEST else ()
            rows += [{**names, **row, "kind": row["kind"] + TOGETHER} for row in together]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(NUMBERS, float))


def _rows_together(several: Sequence[_Judged]) -> Iterator[dict]:
    (subject, *_), verdicts, figures = zip(*several, strict=True)
    of_claims = [judged_together(of_claim) for of_claim in zip(*verdicts, strict=True)]
    for row, verdict in zip(_claim_rows(subject, of_claims), of_claims, strict=True):
        means = [] if verdict.deciding is None else [verdict.findings[verdict.deciding]]
        remark = "".join(f"beside it, {mean.quantity}, mean of the models: {mean.measured}" for mean in means)
        yield row | {"remark": remark, "doubtful": "", "verdict_holm": ""}
    by_value = [{(row["id"], row["published"]): row for row in rows} for rows in figures]
    for value, row in by_value[0].items():
        if all(value in rows for rows in by_value):
            same = [rows[value] for rows in by_value]
            mean = mean_over_models([Measured(one["ours"], one["low"], one["high"], over=one["over"]) for one in same])
            doubtful = {name: None for one in same for name in one.get("doubtful", "").split(", ") if name}
            yield row | _numbers(mean, row["published"]) | {"doubtful": ", ".join(doubtful)}


def _claim_rows(subject: Subject, verdicts: Sequence[Verdict], tested: Collection[str] = ()) -> Iterator[dict]:
    ours, remarks = subject.ours, subject.theirs.published.remarks
    for verdict, corrected in zip(verdicts, correct(verdicts, tested), strict=True):
        claim = verdict.claim
        row = {"kind": "claim", "basis": claim.basis, "place": claim.place, "id": claim.id, "quantity": claim.text}
        if (deciding := verdict.deciding) is not None:
            found, theirs = verdict.findings[deciding], judge(claim, subject.theirs).findings
            row |= _numbers(found.measured, theirs[deciding].measured.value if theirs else None) | {"unit": found.unit}
        row |= {"verdict": verdict.verdict, "reason": verdict.reason, "remark": remarks(claim.id)}
        row |= {"p": corrected.p, "p_holm": corrected.p_holm, "verdict_holm": corrected.verdict}
        yield row | {"doubtful": ", ".join(name for name in claim.types if name in ours.doubtful)}


def value_row(place: str, id_: str, quantity: str, ours: Measured, theirs: float | None = None) -> dict:
    row = {"kind": "figure", "basis": "", "place": place, "id": id_, "quantity": quantity, **_numbers(ours, theirs)}
    return row | {"verdict": "", "verdict_holm": "", "reason": ""}


def subject_title(model: str, other: str) -> str:
    """Return the heading above the results of a model with a partition or task (`other`), such as "bert, squad"."""
    return f"{model}, {other or 'what it does not read'}"


def subject_parts(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the paragraphs of a page on one model with one partition or task: tables of verdicts, then of values.

    rows: the rows of the result of `comparison_table` that are about this model and this partition or task.
    """
    if "doubtful" in rows and rows["doubtful"].any():
        yield "Types in brackets have a doubtful name."
    claims, values = (rows[rows["kind"] == kind] for kind in ("claim", "figure"))
    for label, decided in by_basis(claims[claims["verdict"] != NO_VERDICT]):
        yield f"### Claims: {label}"
        shown = decided[["id", "verdict", "verdict_holm", "p", "p_holm", "reason", "remark"]]
        p = {name: decided[name].map("{:.2g}".format).where(decided[name].notna(), "") for name in ("p", "p_holm")}
        names = {"id": "", "verdict_holm": "corrected", "p_holm": "p, corrected", "reason": "what decides"}
        yield markdown_table(shown.assign(**p).rename(columns=names))
    undecided = claims[claims["verdict"] == NO_VERDICT].groupby("reason", sort=False)["id"]
    if len(undecided):
        yield "No verdict:"
        yield "".join(f"- {reason}: {', '.join(ids)}.\n" for reason, ids in undecided)
    for place, at_place in values.groupby("place", sort=False):
        shown = at_place[["quantity", "ours", "published", "difference", "remark"]]
        if at_place["low"].notna().any():
            ends = zip(at_place["low"], at_place["high"], at_place["over"], strict=True)
            shown.insert(2, "interval", [str(Measured(math.nan, *both, over=over)) for *both, over in ends])
        yield f"### {place[0].upper()}{place[1:]}"
        yield markdown_table(shown)


def comparison_page(
    title: str,
    introduction: Iterable[str],
    table: pd.DataFrame,
    keys: list[str],
    claims: Sequence[Claim],
    published: Published,
    units: Sequence[str],
    section: Callable[[pd.DataFrame], Iterable[str]] = subject_parts,
) -> str:
    """Return Markdown: counts of verdicts, all claims, a section for each model and partition (or task), and notes.

    introduction: paragraphs before the counts. table: the result of `comparison_table`. published: has the notes.
    keys: columns of `table` that name model and partition (or task). units: columns of `table` with numbers of inputs,
    such as "n_questions". section: function from the rows of one model and partition (or task) to their paragraphs.
    """
    parts = [
        *introduction,
        _verdict_counts(table, keys),
        "## The claims",
        "For a limit of ours, the last column says how it follows from the paper's words.",
        _claim_list(claims),
    ]
    for subject, rows in table.groupby(keys, sort=False):
        counts = [(unit.removeprefix("n_"), rows[unit].iloc[0]) for unit in units]
        parts += [f"## {subject_title(*subject)}", *(f"{n:,.0f} {unit}." for unit, n in counts if pd.notna(n))]
        parts += section(rows.assign(kind=rows["kind"].str.removesuffix(TOGETHER)))
    notes = "".join(f"- {note.place}: {note.text}\n" for note in published.notes)
    return document(title, [*parts, "## Notes on the published values", notes])


def _verdict_counts(table: pd.DataFrame, keys: list[str]) -> str:
    claims = table[table["kind"] == "claim"]
    counts = []
    for subject, of_subject in claims.groupby(keys, sort=False):
        for label, rows in by_basis(of_subject):
            count = dict(zip(keys, subject, strict=True)) | {"claims": label}
            count |= {name: int((rows["verdict"] == name).sum()) for name in VERDICTS}
            count["without an interval"] = int((rows["p"].isna() & (rows["verdict"] != NO_VERDICT)).sum())
            count |= {f"{name}, corrected": int((rows["verdict_holm"] == name).sum()) for name in (HOLDS, FAILS)}
            counts.append(count)
    return markdown_table(pd.DataFrame(counts))


def by_basis(claims: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield (what the claims rest on, in words; their rows) for each value of the column `basis`, such as "stated"."""
    for basis, label in BASES.items():
        if not (rows := claims[claims["basis"] == basis]).empty:
            yield label, rows


def _claim_list(claims: Iterable[Claim]) -> str:
    rows = [
        {
            "": claim.id,
            "claims": BASES[claim.basis],
            "claim": claim.text,
            "place": claim.place,
            "the paper's words": f"“{claim.wording}”" if claim.wording else "",
            "limit": claim.limit,
        }
        for claim in sorted(claims, key=lambda claim: [*BASES].index(claim.basis))
    ]
    return markdown_table(pd.DataFrame(rows))


def read_named(path: str, *columns: str) -> pd.DataFrame:
    """Return the table in a CSV file; raise `InputError` if it lacks the column `model` or one of `columns`."""
    return read_csv(path, "is not such a table", ["model", *columns], rows=0, **NAMED)


def tidy_table(subjects: Mapping[Key, Quantities], keys: list[str]) -> pd.DataFrame:
    """Return a table with a row for each quantity of each subject, which is a model with a partition or task.

    The columns are `keys` (of the subject), quantity, value, and low and high, the ends of the interval, or NaN.
    """
    rows = [
        [*subject, name, measured.value, measured.low, measured.high]
        for subject, quantities in subjects.items()
        for name, measured in quantities.by_name.items()
    ]
    table = pd.DataFrame(rows, columns=[*keys, "quantity", "value", "low", "high"])
    return table.astype(dict.fromkeys(("value", "low", "high"), float))


def _numbers(ours: Measured, published: float | None) -> dict:
    row = {"ours": ours.value, "low": ours.low, "high": ours.high, "over": ours.over, "published": published}
    return row if published is None else row | {"difference": ours.value - published}


def judged_together(verdicts: Sequence[Verdict]) -> Verdict:
    """Return one verdict on a claim for several models together, which differ in a random seed alone.

    verdicts: the verdict on the claim for each model. Those that are "no verdict" are left out; n are left.
    The result is "no verdict" if n is below five, "holds" if the claim holds in all n models, "fails" if it fails in
    all, and else "open". In each model, a finding with a p-value of min(0.05, 2 (0.05 - 2^-n)) or more counts as open.
    The findings of the result are means over the models; they do not decide it.
    """
    claim = verdicts[0].claim
    judged = [verdict for verdict in verdicts if verdict.findings]
    if len(judged) < FEWEST:
        reasons = Counter(verdict.reason for verdict in verdicts if not verdict.findings)
        said = "; ".join(f"{reason} ({number} of {len(verdicts)} models)" for reason, number in reasons.items())
        return Verdict(claim, NO_VERDICT, said)
    # A claim that is true of at most half of all trainings is true of all n models with a probability of at most 2^-n.
    # If it is false of one, it holds wrongly there with a probability of p / 2; together at most 5 %.
    level = min(ALPHA, 2 * (ALPHA - 0.5 ** len(judged)))
    counts = Counter(verdict.at(level) for verdict in verdicts)
    decided = set(counts) - {NO_VERDICT}
    single = join(f"{verdict} in {number}" for verdict, number in counts.items())
    reason = f"in single models, by p below {level:g}: {single}"
    asked = {tuple((found.side, found.limit, found.reading) for found in verdict.findings) for verdict in judged}
    means = []
    for found in zip(*(verdict.findings for verdict in judged), strict=True) if len(asked) == 1 else ():
        quantity = found[0].quantity + (" (in the first model)" if len({one.quantity for one in found}) > 1 else "")
        mean = mean_over_models([one.measured for one in found])
        means.append(replace(found[0], quantity=quantity, measured=mean))
    return Verdict(claim, decided.pop() if len(decided) == 1 else OPEN, reason, tuple(means))


def mean_over_models(several: Sequence[Measured]) -> Measured:
    """Return the mean of one quantity over at least two models, with a 95 % interval for other seeds and other inputs.

    several: the quantity's value and interval for each model, all from the same inputs. The result has no interval if
    nothing varies. The interval is too narrow if a few seeds train to a regime of their own.
    """
    # Models answer the same questions, so that variance over inputs does not average out. Scatter by model and question
    # is in both terms: their sum is at least the true variance (Owen 2007, The pigeonhole bootstrap).
    values = np.array([measured.value for measured in several])
    between = values.var(ddof=1) / len(values)
    within = np.nan_to_num([((measured.high - measured.low) / (2 * _HALF)) ** 2 for measured in several]).mean()
    value, variance = float(values.mean()), between + within
    if not variance > 0:
        return Measured(value)
    # Student's t with the degrees of freedom of Satterthwaite (1946).
    freedom = (len(values) - 1) * (variance / between) ** 2 if between > 0 else math.inf
    half = -float(stdtrit(freedom, ALPHA / 2)) * math.sqrt(variance)
    over = " and ".join(filter(None, ("models", several[0].over)))
    return Measured(value, value - half, value + half, over=over)
