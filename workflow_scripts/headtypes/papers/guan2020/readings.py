"""Which of the paper's claims depend on how its text is read."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from headtypes.analyses.types.partitions import Partition
from headtypes.core.markdown import document, markdown_table
from headtypes.papers.claims import BASES
from headtypes.papers.guan2020 import claims_of_answers
from headtypes.papers.guan2020.comparison import compare_with_guan
from headtypes.papers.guan2020.published import Guan2020
from headtypes.papers.guan2020.quantities import collect_quantities
from headtypes.papers.guan2020.tables import ablation_table
from headtypes.papers.keys import OWN_READING, Key
from headtypes.papers.quantities import NO_VERDICT, join

_CLAIM = ["model", "partition", "basis", "id", "place", "claim"]
_JUDGED = ["verdict", "ours", "low", "high", "p", "reason"]


def readings_table(
    rows: list[dict],
    readings: Sequence[str],
    partitions: Mapping[Key, Partition],
    metrics: list[dict],
    published: Guan2020,
    intervals: Mapping[Key, Callable],
) -> pd.DataFrame:
    """Judge the paper's claims on answers under every reading.

    rows: one per evaluation: model, partition, condition (as evaluated), base (the condition itself), reading (None for
        the config's own) and operations; metrics: of these, in their order.
    readings: the further readings. A condition that one cannot change counts there as under the config's own.
    intervals: by partition, as `quantities.collect_quantities` takes them.
    returns a row per model, partition, claim and reading, of the claims that answers decide under some reading: columns
      as in the comparison, the claim's text as `claim`, and depends (whether the readings differ in the verdict).
    """
    # Claims about shares of types, for instance, do not depend on answers.
    of_answers = [claim.id for claim in claims_of_answers.claim]
    judged = []
    for reading in (None, *readings):
        chosen = _under(rows, reading)
        of_reading = [rows[index] for index in chosen], partitions, [metrics[index] for index in chosen], published
        answers = ablation_table(*of_reading, intervals={}, controls={})
        compared = compare_with_guan(collect_quantities(partitions, answers, None, published, intervals), {}, published)
        claims = compared[(compared["kind"] == "claim") & compared["id"].isin(of_answers)]
        claims = claims.rename(columns={"quantity": "claim"})
        judged.append(claims[[*_CLAIM, *_JUDGED]].assign(reading=reading or OWN_READING))
    table = pd.concat(judged, ignore_index=True)
    verdicts = table.groupby(_CLAIM, sort=False)["verdict"]
    table["depends"] = verdicts.transform("nunique") > 1
    decided = verdicts.transform(lambda verdict: (verdict != NO_VERDICT).any())
    columns = [*_CLAIM, "reading", *_JUDGED, "depends"]
    return table.assign(claim_number=verdicts.ngroup())[decided].sort_values("claim_number", kind="stable")[columns]


def readings_page(table: pd.DataFrame) -> str:
    """The table as Markdown: per model and partition, first the claims that depend on the reading."""
    parts = [
        f"{OWN_READING} is the config's own reading; `readings` in the config says what the others change. Claims that "
        "no reading changes are listed below those that depend on it. Verdicts are not corrected for their number."
    ]
    for (model, partition), section in table.groupby(["model", "partition"], sort=False):
        claims = section.drop_duplicates("id")
        counts = [
            f"{int(rows['depends'].sum())} of {len(rows)} claims {label}"
            for basis, label in BASES.items()
            if not (rows := claims[claims["basis"] == basis]).empty
        ]
        parts += [f"## {model}, {partition}", f"The reading decides {join(counts)}."]
        for _, some in sorted(section.groupby("depends"), reverse=True, key=lambda group: group[0]):
            parts.append(markdown_table(pd.DataFrame([_line(claim) for _, claim in some.groupby("id", sort=False)])))
    return document("Which conclusions depend on how the paper is read", parts)


def _line(claim: pd.DataFrame) -> dict[str, str]:
    first = claim.iloc[0]
    said = {"claims": BASES[first["basis"]], "place": first["place"], "claim": first["claim"]}
    return {**said, **claim.set_index("reading")["verdict"].to_dict()}


def _under(rows: list[dict], reading: str | None) -> list[int]:
    """Indices of the evaluations that count under a reading: its own where there is one, else the config's own."""
    indices: dict[tuple, int] = {}
    for wanted in (None, reading):
        for index, row in enumerate(rows):
            if row["reading"] == wanted:
                indices[row["model"], row["partition"], row["base"]] = index
    return list(indices.values())
