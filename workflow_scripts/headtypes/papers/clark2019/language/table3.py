"""Clark's Table 3: how well probes on attention maps parse, beside what needs no training."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from headtypes.core.markdown import document
from headtypes.core.tables import Column, Table, TextColumn
from headtypes.papers.clark2019.language.cells import percent, spaced
from headtypes.papers.clark2019.language.scores import SYSTEMS
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.keys import TASK_KEYS, Key

COLUMNS = [
    *TASK_KEYS,
    *("system", "uas", "low", "high", "least", "most", "starts", "published", "comparable"),
    *("training_sentences", "sentences", "known_words"),
]
# From the paper's order; ours alone are the best offset and the best head.
_ORDER = (
    "structural",
    "right_branching",
    "best_offset",
    "best_head",
    "distance_and_words",
    "random_network",
    "attention",
    "attention_and_words",
)
_NAMES = {"structural": "structural probe (Hewitt and Manning 2019)", **SYSTEMS}
_COLUMNS = [
    TextColumn("name", "system"),
    TextColumn("system", "system", write=spaced),
    percent("uas", "UAS", ("low", "high"), note="percent of words whose head is found; 95 % interval over sentences"),
    TextColumn("range", "starts"),
    Column("starts", "starts", digits=0, note="number of random starts"),
    Column("least", "least of the starts"),
    Column("most", "most of the starts"),
    Column("published", "published", write="{:g}".format, brief="paper's"),
    TextColumn("remark", "remark"),
]


def probes_table(
    scores: Mapping[Key, pd.DataFrame], probes: Mapping[Key, dict], beside: Collection[str], published: Clark2019
) -> pd.DataFrame:
    """The unlabelled attachment scores of probes and baselines.

    scores, probes: by model and treebank, as `scores.measure_probes` and `probes.measure.train_probes` return them.
    beside: models beside which the published values stand.
    returns the columns `COLUMNS`: uas, low and high: in percent, the mean over the random starts, with its interval
      over sentences; least, most: of a start; starts: their number, empty where nothing is trained; training_sentences,
      sentences: that were learnt from, and scored; known_words: percent of the scored words that have a vector.
    """
    theirs = {row.probe: row for row in published.probes.rows}
    rows = []
    for key, read in scores.items():
        of_probes = probes[key]
        own = read[read["minus"].isna() | (read["minus"] == "")].set_index("system")
        for system in _ORDER:
            row = theirs.get(system) if key[0] in beside else None
            if system not in own.index and row is None:
                continue
            line = dict(zip(TASK_KEYS, key, strict=True)) | {"system": system}
            if system in own.index:
                line |= {name: own.loc[system, name] for name in ("uas", "low", "high", "least", "most")}
            if system in of_probes["right"]:
                line["starts"] = len(of_probes["right"][system])
            line |= {
                "published": None if row is None else row.uas,
                "comparable": row is None or row.comparable,
                "training_sentences": of_probes["training"]["read"],
                "sentences": of_probes["scored"]["read"],
                "known_words": 100 * of_probes["vectors"]["known"],
            }
            rows.append(line)
    return pd.DataFrame(rows, columns=COLUMNS).astype({"starts": "Int64"})


def probe_tables(table: pd.DataFrame, published: Clark2019 | None = None) -> Iterator[Table]:
    """A table for each model and treebank; published: for the remarks on its values, which stand on the page alone."""
    for (model, task), section in table.groupby(TASK_KEYS, sort=False):
        learned, scored = section[["training_sentences", "sentences"]].iloc[0]
        beside = ["published"] if section["published"].notna().any() else []
        yield Table(
            f"Clark's Table 3. Probes: {model}, {task}",
            section.assign(
                name=section["system"].map(_NAMES),
                remark=[_remark(row, published) for row in section.itertuples()],
                range=[
                    f"{row.starts}: {row.least:.2f} to {row.most:.2f}" if row.starts > 1 else ""
                    for row in section.fillna({"starts": 0}).itertuples()
                ],
                **{end: section[end].where(section["starts"].notna()) for end in ("least", "most")},
            ),
            _COLUMNS,
            brief=["system", "uas", "starts", "least", "most", *beside],
            about=f"Learned from {learned:,.0f} sentences, scored on {scored:,.0f}.",
            printed=["name", "uas", "range"],
        )


def probes_page(table: pd.DataFrame, published: Clark2019) -> str:
    """The table as Markdown."""
    data = published.data.treebank
    parts = [
        f"Published: {published.paper}, {published.probes.place}: {published.model} on the {data.source}, "
        f"{data.training_sentences:,} sentences to learn from and {data.dev_sentences:,} scored. Values are percent of "
        "words whose head is found (UAS), punctuation left out and roots included; of a probe, the mean over its "
        "random starts, with a 95 % interval over sentences, and the range of the starts.",
        "Probes that learn from fewer sentences, or have smaller vectors, score less. The best offset and the best "
        "head are chosen on the scored sentences.",
    ]
    for ((model, task), section), shown in zip(
        table.groupby(TASK_KEYS, sort=False), probe_tables(table, published), strict=True
    ):
        first = section.iloc[0]
        beside = ["published", "remark"] if section["published"].notna().any() else []
        parts += [
            f"## {model}, {task}",
            f"{first['training_sentences']:,} sentences to learn from, {first['sentences']:,} scored; "
            f"{first['known_words']:.1f} % of the scored words have a vector.",
            shown.markdown("name", "uas", "range", *beside),
        ]
    parts += [f"- {note.place}: {note.text}\n" for note in published.notes if note.place == "section 5"]
    return document("Clark's Table 3: probes", parts)


def _remark(row: NamedTuple, published: Clark2019 | None) -> str:
    if not row.comparable:
        return "scores undirected edges: not comparable"
    return "" if published is None else published.remarks(f"probe.{row.system}")
