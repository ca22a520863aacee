"""Our figures beside the published ones, and which of the paper's claims hold."""

import math
from collections.abc import Callable, Iterator, Mapping

import pandas as pd

from headtypes.papers.guan2020.claims import (
    METRICS,
    NO_VERDICT,
    VERDICTS,
    Evidence,
    Measured,
    bracket,
    join,
    judge,
    name_operations,
    published_evidence,
)
from headtypes.papers.guan2020.descent import compare_partitions
from headtypes.papers.guan2020.published import Reference
from headtypes.papers.markdown import document, markdown_table
from headtypes.types.partitions import Partition

COLUMNS = [
    *("model", "partition", "kind", "place", "id", "quantity", "ours", "low", "high", "published", "difference"),
    *("verdict", "reason", "remark", "doubtful", "n_questions"),
]
_NUMBERS = ("ours", "low", "high", "published", "difference")
_READINGS = {
    f"{half}_{figure}": f"stability, halves of the {half}, {words}"
    for half in ("heads", "samples")
    for figure, words in (("all_agree", "all agree"), ("pairwise", "pairwise"))
}
_SCORES = ["id", "condition", *METRICS, "n_questions"]
_STABILITY = ["published_stability", *_READINGS]

Key = tuple[str, str]
Interval = Callable[[Mapping[str, float], str], tuple[float, float, float]]


def compare_with_guan(
    partitions: Mapping[Key, Partition],
    ablations: pd.DataFrame | None,
    stabilities: pd.DataFrame | None,
    reference: Reference,
    *,
    intervals: Mapping[Key, Interval],
    silhouettes: Mapping[Key, Mapping[int, float]],
    parents: Mapping[Key, Partition],
) -> pd.DataFrame:
    """Set what is published beside ours, and judge the paper's claims.

    partitions: by model and name of the partition; the order of the result.
    ablations, stabilities: of these partitions, as `tables.ablation_table` and `tables.stability_table` make them;
        partitions may be missing from either, and either may be None.
    intervals: by partition, where there are scores of single questions: a function of {condition's name: weight}
        and a metric (exact_match or f1) that returns the sum of the conditions' mean scores times their weights,
        and the ends of its interval, NaN where it has none.
    silhouettes: by partition, the silhouettes of clusterings that differ from it in k alone, by k.
    parents: by partition, that of the model's parent, made in the same way on the same task.

    returns the columns `COLUMNS`; for each partition first the claims in the order of the reference, then the
      figures in that of the paper. kind: claim or figure. id: the claim's, or share.{type}, stability.{reading},
      {condition}.{metric} and {condition}.drop_{metric}. ours, low, high, published, difference (ours less
      published): percent or points; of a claim those of the first rule that makes the verdict. remark: how the
      published figure contradicts others. doubtful: types that the row rests on and whose name is doubtful.
    """
    rows = []
    for key, partition in partitions.items():
        evaluated, stability = _of(ablations, key, _SCORES), _of(stabilities, key, _STABILITY)
        # A task of sentence pairs has no exact match, and an F1 of another kind.
        evaluated = evaluated[evaluated["id"].notna() & evaluated["exact_match"].notna()]
        evidence = _evidence(
            partition, evaluated, stability, intervals.get(key), silhouettes.get(key, {}), parents.get(key)
        )
        figures = stability["published_stability"].dropna().tolist()
        published = published_evidence(reference, figures)
        same = {"model": key[0], "partition": key[1], "n_questions": evaluated["n_questions"].max()}
        rows += [same | row for row in _claims(evidence, published, reference)]
        rows += [same | row for row in _figures(evidence, published, reference)]
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.astype({**dict.fromkeys(_NUMBERS, float), "n_questions": "Int64"})


def comparison_page(table: pd.DataFrame, reference: Reference) -> str:
    """The comparison as Markdown: a section per model and partition, verdicts first, then the figures."""
    keys = ["model", "partition"]
    claims = table[table["kind"] == "claim"]
    counts = [
        dict(zip(keys, key, strict=True)) | {name: int((section["verdict"] == name).sum()) for name in VERDICTS}
        for key, section in claims.groupby(keys, sort=False)
    ]
    levels = join(f"{name.replace('_', ' ')} ({it.side} {it.percent:g})" for name, it in reference.levels.items())
    parts = [
        f"Published: {reference.paper}. Its figures are those of {reference.model} on {reference.task}; another model "
        "shares no heads with it, so that it is the order and the direction of the drops that can be compared.",
        "A claim holds or fails where the whole interval of its quantity lies on one side of the limit, and is open "
        "where the limit lies inside the interval; without an interval the figure itself decides. A claim that rests "
        "on a doubtful name has no verdict.",
        "The limits are our reading of the paper's words, in percent of the baseline's exact match that is left: "
        f"{levels}.",
        markdown_table(pd.DataFrame(counts)),
    ]
    for (model, partition), section in table.groupby(keys, sort=False):
        questions = section["n_questions"].iloc[0]
        parts.append(f"## {model}, {partition}")
        parts += [] if pd.isna(questions) else [f"{questions:,} questions."]
        parts += ["Types in brackets have a doubtful name."] if section["doubtful"].any() else []
        parts += _claim_parts(section[section["kind"] == "claim"])
        parts += _figure_parts(section[section["kind"] == "figure"])
    notes = "".join(f"- {note.place}: {note.text}\n" for note in reference.notes)
    return document("Beside the paper", [*parts, "## Notes on the published figures", notes])


def _of(table: pd.DataFrame | None, key: Key, columns: list[str]) -> pd.DataFrame:
    if table is None:
        return pd.DataFrame(columns=columns)
    return table.loc[(table["model"] == key[0]) & (table["partition"] == key[1]), columns]


def _evidence(
    partition: Partition,
    evaluated: pd.DataFrame,
    stability: pd.DataFrame,
    interval: Interval | None,
    silhouettes: Mapping[int, float],
    parent: Partition | None,
) -> Evidence:
    # Where two conditions of the config do the same, the first counts.
    scores = evaluated.drop_duplicates("id").set_index("id")
    names = scores["condition"].to_dict()

    def of_numbers(weights: Mapping[int, float], metric: str) -> Measured:
        return Measured(*interval({names[each]: weight for each, weight in weights.items()}, metric))

    heads = {name: (partition.type_of == name).sum(axis=1).tolist() for name in partition.types}
    return Evidence(
        types=partition.types,
        doubtful=partition.doubtful,
        scores=scores[list(METRICS)].to_dict("index"),
        interval=of_numbers if interval else None,
        shares={name: 100 * sum(counts) / partition.type_of.size for name, counts in heads.items()},
        heads=heads,
        stability={} if stability.empty else stability[list(_READINGS)].iloc[0].to_dict(),
        silhouettes=silhouettes,
        kept=compare_partitions(partition, parent)["same_type"] if parent else None,
        doubtful_in_parent=parent.doubtful if parent else (),
    )


def _claims(evidence: Evidence, published: Evidence, reference: Reference) -> Iterator[dict]:
    for claim in reference.claims:
        ours, theirs = (judge(claim, each, reference) for each in (evidence, published))
        row = {"kind": "claim", "place": claim.place, "id": claim.id, "quantity": claim.text}
        if ours.deciding is not None:
            figure = theirs.findings[ours.deciding].measured.value if theirs.findings else None
            row |= _beside(ours.findings[ours.deciding].measured, figure)
        row |= {"verdict": ours.verdict, "reason": ours.reason, "remark": ""}
        row["doubtful"] = ", ".join(name for name in claim.types if name in evidence.doubtful)
        yield row


def _figures(evidence: Evidence, published: Evidence, reference: Reference) -> Iterator[dict]:
    """Rows without model and partition, each with id, place, quantity, types that it names, ours and theirs."""
    for place, id_, quantity, types, ours, theirs in _pairs(evidence, published, reference):
        yield {
            "kind": "figure",
            "place": place,
            "id": id_,
            "quantity": quantity,
            **_beside(ours, theirs),
            "verdict": "",
            "reason": "",
            "remark": "; ".join(note.remark for note in reference.notes if note.concerns(id_)),
            "doubtful": ", ".join(name for name in types if name in evidence.doubtful),
        }


def _pairs(evidence: Evidence, published: Evidence, reference: Reference) -> Iterator[tuple]:
    """Place, id, quantity, types that it names, ours, and the published figure."""
    # Shares and stability of other types are other quantities.
    if set(evidence.types) == set(published.types):
        place = reference.shares.place
        for name, share in published.shares.items():
            quantity = f"share of {bracket(name, evidence.doubtful)}"
            yield place, f"share.{name}", quantity, (name,), Measured(evidence.shares[name]), share
        for figure in published.stability.values():
            for reading, ours in evidence.stability.items():
                yield reference.stability.place, f"stability.{reading}", _READINGS[reading], (), Measured(ours), figure
    baseline = reference.published_condition({}).id
    for condition in reference.conditions:
        if condition.id not in evidence.scores:
            continue
        place, done = f"section 5, Table {condition.table}", name_operations(condition.operations, evidence.doubtful)
        quantities = {"": ("", {condition.id: 1.0})}
        if condition.id != baseline and baseline in evidence.scores:
            quantities["drop_"] = ("drop of ", {baseline: 1.0, condition.id: -1.0})
        for metric, metric_words in METRICS.items():
            for kind, (words, weights) in quantities.items():
                id_, quantity = f"{condition.id}.{kind}{metric}", f"{words}{metric_words}, {done}"
                ours, theirs = (each.weighted_sum(weights, metric) for each in (evidence, published))
                yield place, id_, quantity, tuple(condition.operations), ours, theirs.value


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


def _figure_parts(figures: pd.DataFrame) -> Iterator[str]:
    for place, rows in figures.groupby("place", sort=False):
        shown = rows[["quantity", "ours", "published", "difference", "remark"]]
        if rows["low"].notna().any():
            ends = zip(rows["low"], rows["high"], strict=True)
            shown.insert(2, "interval", [str(Measured(math.nan, low, high)) for low, high in ends])
        yield f"### {place[0].upper()}{place[1:]}"
        yield markdown_table(shown)
