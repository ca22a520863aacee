"""The paper's claims under every reading of its text on ablation, and which of them depend on it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.core.files import read_each
from headtypes.core.tables import document, markdown_table, write_table
from headtypes.papers import comparison
from headtypes.papers.claims import BASES, FAILS, HOLDS, NO_VERDICT, OPEN, join
from headtypes.papers.comparison import OWN_READING
from headtypes.papers.guan2020.claims import of_answers
from headtypes.papers.guan2020.published import Guan2020
from headtypes.papers.guan2020.quantities import ScoredAnswers, collect_quantities, published_quantities, read_answers
from headtypes.papers.paper import PARTITION_KEYS, Key

_CLAIM = ["model", "partition", "basis", "id", "place", "claim"]
_JUDGED = ["verdict", "ours", "low", "high", "p", "reason"]


def readings_table(
    rows: list[dict],
    readings: Sequence[str],
    partitions: Mapping[Key, Partition],
    answers: Mapping[Key, ScoredAnswers],
    published: Guan2020,
) -> pd.DataFrame:
    judged, theirs = [], published_quantities(published)
    for reading in (None, *readings):
        quantities = collect_quantities(partitions, answers, _under(rows, reading), published)
        # Claims about shares of types, for instance, do not depend on answers.
        subjects = [
            comparison.Subject(dict(zip(PARTITION_KEYS, key, strict=True)), of_answers, ours, theirs)
            for key, ours in quantities.items()
        ]
        claims = comparison.comparison_table(subjects, [*PARTITION_KEYS, *comparison.COLUMNS])
        claims = claims.rename(columns={"quantity": "claim"})[[*_CLAIM, *_JUDGED]]
        judged.append(claims.assign(reading=reading or OWN_READING))
    table = pd.concat(judged, ignore_index=True)
    verdicts = table.groupby(_CLAIM, sort=False)["verdict"]
    table["depends"] = verdicts.transform("nunique") > 1
    decided = verdicts.transform(lambda verdict: (verdict != NO_VERDICT).any())
    columns = [*_CLAIM, "reading", *_JUDGED, "depends"]
    return table.assign(claim_number=verdicts.ngroup())[decided].sort_values("claim_number", kind="stable")[columns]


def readings_page(table: pd.DataFrame) -> str:
    parts = [
        f"{OWN_READING} is the config's own reading; `readings` in the config says what the others change. Claims that "
        "no reading changes are listed below those that depend on it. Verdicts are not corrected for their number."
    ]
    for (model, partition), section in table.groupby(["model", "partition"], sort=False):
        counts = [
            f"{int(claims['depends'].sum())} of {len(claims)} claims {label}"
            for label, claims in comparison.by_basis(section.drop_duplicates("id"))
        ]
        parts += [f"## {model}, {partition}", f"The reading decides {join(counts)}."]
        for _, some in sorted(section.groupby("depends"), reverse=True, key=lambda group: group[0]):
            parts.append(markdown_table(pd.DataFrame([_line(claim) for _, claim in some.groupby("id", sort=False)])))
    return document("Which conclusions depend on how the paper is read", parts)


def _line(claim: pd.DataFrame) -> dict[str, str]:
    first = claim.iloc[0]
    said = {"claims": BASES[first["basis"]], "place": first["place"], "claim": first["claim"]}
    return {**said, **claim.set_index("reading")["verdict"].to_dict()}


def _under(rows: list[dict], reading: str | None) -> list[dict]:
    found = {}
    for wanted in (None, reading):
        found |= {(row["model"], row["partition"], row["base"]): row for row in rows if row["reading"] == wanted}
    return list(found.values())


def under_every_reading(compared: pd.DataFrame, readings: pd.DataFrame) -> pd.DataFrame:
    judged = readings[readings["verdict"] != NO_VERDICT].groupby(["model", "partition", "id"])
    by_reading = {key: dict(zip(rows["reading"], rows["verdict"], strict=True)) for key, rows in judged}
    compared = compared.copy()
    for index, row in compared[(compared["kind"] == "claim") & compared["verdict"].isin([HOLDS, FAILS])].iterrows():
        verdicts = by_reading.get((row["model"], row["partition"], row["id"]), {})
        if len(set(verdicts.values())) > 1:
            said = join(f"{verdict} under {reading}" for reading, verdict in verdicts.items())
            compared.loc[index, ["verdict", "verdict_holm", "reason"]] = OPEN, OPEN, f"{said}; {row['reason']}"
    return compared


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    partitions, answers = read_each(read_partition, inputs.partitions), read_answers(inputs.scores)
    table = readings_table(spec["rows"], spec["readings"], partitions, answers, Guan2020.read(inputs.reference))
    write_table(outputs, table, readings_page(table), provenance)
