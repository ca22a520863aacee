"""Clark's Tables 1 to 3, our values and the published ones: dependency relations, coreference and probes."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from headtypes.analyses.coreference import accuracy
from headtypes.analyses.probes.scores import read_probe_scores, read_probes
from headtypes.analyses.relations.accuracy import ALL, FILE, TOTALS, read_best_heads
from headtypes.core.files import read_each
from headtypes.core.statistics import LEVELS
from headtypes.core.table_files import head_name
from headtypes.core.tables import Column, Table, TextColumn, document, interval, write_table
from headtypes.papers.clark2019.published import MENTIONS, READINGS, SYSTEMS, Clark2019, our_relation
from headtypes.papers.paper import TASK_KEYS, Key


def _percent(name: str, label: str, ends: tuple[str, str] | None = None, **how) -> Column:
    return Column(name, label, digits=1, ends=ends or interval(name), **how)


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _signed(offset: float) -> str:
    return f"{int(offset):+d}"


_VALUES = ("accuracy", "other_accuracy", "offset_accuracy", "above_offset")
_PUBLISHED = ("head", "direction", "accuracy", "offset", "baseline")
_TABLE_1 = [
    *TASK_KEYS,
    *("annotation", "relation", "paper", "chosen", "scored", "words", "head", "direction"),
    *(f"{name}{end}" for name in _VALUES[:2] for end in ("", "_low", "_high")),
    "offset",
    *(f"{name}{end}" for name in _VALUES[2:] for end in ("", "_low", "_high")),
    *(f"published_{name}" for name in _PUBLISHED),
    *("remark", "derived", "differs", "left_out"),
]
_NAME = ["annotation", "relation"]
_SHOWN_1 = [
    TextColumn("relation", "relation"),
    Column("words", "words", digits=0),
    TextColumn("head", "head", heads=True),
    TextColumn("direction", "direction", write=_spaced),
    _percent("accuracy", "accuracy", note=f"percent of words whose head is guessed, over sentences ({LEVELS})"),
    Column("offset", "offset", write=_signed, brief="best offset"),
    _percent("offset_accuracy", "of the offset"),
    _percent("above_offset", "lead", note="the best head less the best offset"),
    _percent("there_accuracy", "scored elsewhere"),
    _percent("there_offset_accuracy", "of the offset there"),
    _percent(
        "there_above_offset",
        "lead there",
        brief="lead elsewhere",
        note="of the same choice on other sentences, by which claims are judged",
    ),
    TextColumn("derived", "from"),
    TextColumn("differs", "differs"),
    Column("published_accuracy", "", digits=1, brief="paper's"),
    Column("published_baseline", "", digits=1, brief="paper's offset"),
]
_OURS_1 = [column.name for column in _SHOWN_1[:11]]
_PUBLISHED_1 = [
    TextColumn("paper", "relation"),
    TextColumn("published_head", "head"),
    TextColumn("published_direction", "direction", write=_spaced),
    Column("published_accuracy", "accuracy", write="{:.1f}".format),
    Column("accuracy", "ours", write="{:.1f}".format),
    Column("published_offset", "offset", write=_signed),
    Column("published_baseline", "of the offset", write="{:.1f}".format),
    Column("offset_accuracy", "ours, of the offset", write="{:.1f}".format),
    TextColumn("remark", "remark"),
]


def relations_table(best: Mapping[Key, pd.DataFrame], beside: Collection[str], published: Clark2019) -> pd.DataFrame:
    of_paper = {our_relation(row.relation): row for row in published.relations.rows}
    theirs = pd.DataFrame(
        {
            **dict(zip(_NAME, name, strict=True)),
            "paper": row.relation,
            "derived": row.derived,
            "differs": row.differs,
            **{f"published_{column}": getattr(row, column) for column in _PUBLISHED},
            "remark": published.remarks(f"relation.{row.relation}.accuracy"),
        }
        for name, row in of_paper.items()
    )
    ranking = [*of_paper, "stanford", *(("universal", total) for total in TOTALS), "universal"]
    tables = []
    for key, read in best.items():
        table = read.merge(theirs, "left", _NAME)
        as_paper = (table["scored"] == FILE) & (key[0] in beside)
        names = zip(table["annotation"], table["relation"], strict=True)
        table = table.assign(
            **_names(key),
            head=_head_names(read["layer"], read["head"]),
            **table.filter(like="published_").where(as_paper),
            **{column: table[column].fillna("") for column in ("paper", "derived", "differs")},
            remark=table["remark"].where(as_paper, ""),
            rank=[ranking.index(name if name in ranking else name[0]) for name in names],
            # The first row of a relation is scored as in the paper.
            rarity=-table.groupby(_NAME)["words"].transform("first"),
        )
        tables.append(table.sort_values(["rank", "rarity", "relation"]))
    return _together(tables, _TABLE_1)


def relation_tables(table: pd.DataFrame) -> Iterator[Table]:
    # An empty cell of CSV.
    for (model, task), section in table.fillna({"left_out": "", "paper": ""}).groupby(TASK_KEYS, sort=False):
        same, other = section[section["scored"] == FILE], section[section["scored"] != FILE].set_index(_NAME)
        elsewhere = other.reindex(pd.MultiIndex.from_frame(same[_NAME])).add_prefix("there_")
        values = pd.concat([same.reset_index(drop=True), elsewhere.reset_index(drop=True)], axis=1)
        derived = values["annotation"] == "stanford"
        yield Table(
            f"Clark's Table 1. Dependency relations: {model}, {task}",
            values,
            _SHOWN_1,
            brief=[
                *_OURS_1[:8],
                "there_above_offset",
                *_with_values(values, ["published_accuracy", "published_baseline"]),
            ],
            brief_rows=derived | (values["paper"] != "") if derived.any() else None,
            about=values["left_out"].iloc[0],
            model=model,
            printed=["relation", "head", "direction", "accuracy", "offset", "offset_accuracy", "above_offset"],
        )


def relations_page(table: pd.DataFrame, published: Clark2019) -> str:
    parts = [
        f"Published: {published.paper}, {published.relations.place}: {published.model} on the "
        f"{published.data.treebank.source}. Accuracies are percent of words whose head in the tree is guessed, with "
        f"intervals over sentences ({LEVELS}). +1 is the next word. *Lead* is the best head less the best offset.",
        "Heads and offsets are chosen and scored on the same sentences, as in the paper; under *scored elsewhere* they "
        "are the same choices on the test part or, without one, choices of each half of the sentences on the other. "
        "Claims are judged on these.",
        "Where a treebank has the labels of Universal Dependencies, the paper's relations are derived from them. The "
        "last columns say from which, and what remains different, so that the values compare in order and size alone.",
    ]
    for shown in relation_tables(table):
        is_of_paper, is_published = shown.data["paper"] != "", shown.data["published_head"].notna()
        parts += [_heading(shown), "### Relations of the paper"]
        parts.append(shown.where(is_of_paper).markdown(*_OURS_1, "derived", "differs"))
        if is_published.any():
            parts += ["### Published", Table("", shown.data[is_published], _PUBLISHED_1).markdown()]
        parts += ["### Other relations", shown.where(~is_of_paper).markdown(*_OURS_1)]
    return document("Clark's Table 1: dependency relations", parts)


_TABLE_2 = [*TASK_KEYS, *(name for name in accuracy.COLUMNS if name != "layer"), "published", "comparable"]
_SYSTEMS = {
    "nearest": "nearest",
    "head_match": "head match",
    "rules": "rules",
    "chance": "chance",
    "nearest_other": "nearest, following mentions included",
    "neural": "neural coreference (Wiseman et al. 2015)",
    "best_head": "best head",
    "best_head_of_type": "best head of each type",
}
_CHOSEN = {"documents": "as in the paper", "halves": "on the other half", "": ""}
_TYPES = (ALL, *MENTIONS)
_PUBLISHED_2 = [f"published_{type_}" for type_ in _TYPES]
_SHOWN_2 = [
    TextColumn("name", "system"),
    TextColumn("system", "system", write=_spaced),
    TextColumn("among", "guess among"),
    TextColumn("chosen", "chosen", write=_CHOSEN.__getitem__),
    TextColumn("head", "head", heads=True),
    *(
        _percent(type_, type_, note=f"percent of mentions, with its interval over documents ({LEVELS})")
        for type_ in _TYPES
    ),
    *(Column(name, name.replace("_", ", "), write="{:g}".format) for name in _PUBLISHED_2),
    Column("paper", "", digits=1, brief="paper's"),
]


def coreference_table(
    accuracies: Mapping[Key, pd.DataFrame], beside: Collection[str], published: Clark2019
) -> pd.DataFrame:
    theirs = pd.DataFrame(
        {"system": row.system, "type": type_, "published": getattr(row, type_), "comparable": row.comparable}
        for row in published.coreference.rows
        for type_ in _TYPES
    )
    tables = []
    for key, read in accuracies.items():
        of_paper = theirs if key[0] in beside else theirs[:0]
        # Empty cells of CSV.
        rows = read[read["system"] != "head"].assign(chosen=read["chosen"].fillna(""))
        rows = rows.merge(of_paper, "left", ["system", "type"]).assign(**_names(key), comparable=True)
        known = rows["published"].where(rows["chosen"] != "halves")
        tables.append(rows.assign(head=_head_names(rows["layer"], rows["head"]), published=known))
        others = of_paper[~of_paper["system"].isin(rows["system"]) & (of_paper["type"] == ALL)]
        tables.append(others.assign(**_names(key), candidates="", chosen="", head=""))
    return _together(tables, _TABLE_2)


def coreference_tables(table: pd.DataFrame) -> Iterator[Table]:
    for (model, task), section in table.fillna(dict.fromkeys(("candidates", "chosen", "head"), "")).groupby(
        TASK_KEYS, sort=False
    ):
        values = pd.DataFrame(_coreference_rows(section)).sort_values(
            "system", key=lambda systems: systems.map(list(_SYSTEMS).index), kind="stable"
        )
        counts = section[section["system"] == "nearest"].set_index("type")["mentions"]
        documents = section.loc[section["system"] == "nearest", "documents"].max()
        types = ", ".join(f"{counts[name]:,.0f} {name}" for name in MENTIONS if name in counts)
        in_brief = (values["candidates"] != "") & (values["chosen"] != "halves")
        in_brief &= values["system"] != "best_head_of_type"
        yield Table(
            f"Clark's Table 2. Coreference: {model}, {task}",
            values,
            _SHOWN_2,
            brief=["system", "among", "head", *_TYPES, *_with_values(values[in_brief], ["paper"])],
            brief_rows=in_brief,
            about=f"{counts[ALL]:,.0f} mentions with an antecedent ({types}), in {documents:,.0f} documents.",
            model=model,
            printed=["name", "among", "head", *_TYPES],
        )


def coreference_page(table: pd.DataFrame, published: Clark2019) -> str:
    place = published.coreference.place
    parts = [
        f"Published: {published.paper}, {place}: {published.model} on {published.data.coreference}. Accuracies "
        "are percent of coreferent mentions for which an antecedent is selected, with intervals over documents "
        f"({LEVELS}).",
        "A head's guess is the word that the mention's head word looks at most, among all other words of the part "
        "(`words`: the paper's words taken literally), among those before it (`words_before`), or among the head words "
        "of the mentions that end before it starts (`mentions`), as the baselines choose. For one and the same head "
        "these differ, so that no number says anything without its reading, and a claim is decided only where all "
        "three decide it alike.",
        "The best head is chosen on all mentions of all documents, as in the paper, or of the documents of even "
        "index for those of odd index, and the other way round.",
    ]
    for shown in coreference_tables(table):
        columns = ["name", "among", "chosen", "head", *_TYPES, *_with_values(shown.data, _PUBLISHED_2)]
        parts += [_heading(shown), shown.markdown(*columns)]
    return document("Clark's Table 2: coreference", [*parts, *_notes(published, "section 4.3")])


def _coreference_rows(section: pd.DataFrame) -> Iterator[dict]:
    keys = ["system", "candidates", "chosen"]
    for group, rows in section.groupby(keys, sort=False):
        line = dict(zip(keys, group, strict=True))
        is_head, system = line["system"].startswith("best_head"), _SYSTEMS[line["system"]]
        heads = dict.fromkeys(filter(None, rows["head"]))
        if line["system"] == "best_head_of_type":
            heads = [f"{row.type} {row.head}" for row in rows.itertuples() if row.head]
        line |= {
            "name": system if rows["comparable"].all() else f"{system}, not comparable",
            "among": READINGS[line["candidates"]].removeprefix("among ") if is_head else "",
            "head": "; ".join(heads),
        }
        by_type = rows.set_index("type").reindex(_TYPES)
        names = {"accuracy": "{}", "low": "{}_low", "high": "{}_high", "published": "published_{}"}
        line |= {name.format(type_): by_type.loc[type_, given] for given, name in names.items() for type_ in _TYPES}
        yield line | {"paper": line[_PUBLISHED_2[0]]}


_TABLE_3 = [
    *TASK_KEYS,
    *("system", "uas", "low", "high", "least", "most", "starts", "published", "comparable", "remark"),
    *("training_sentences", "sentences", "known_words"),
]
# In the order of the rows.
_NAMES = {"structural": "structural probe (Hewitt and Manning 2019)", **SYSTEMS}
_UNDIRECTED = "scores undirected edges: not comparable"
_SHOWN_3 = [
    TextColumn("name", "system"),
    TextColumn("system", "system", write=_spaced),
    _percent("uas", "UAS", ("low", "high"), note=f"percent of words whose head is found, over sentences ({LEVELS})"),
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
    theirs = pd.DataFrame(
        {
            "system": row.probe,
            "published": row.uas,
            "comparable": row.comparable,
            "remark": published.remarks(f"probe.{row.probe}") if row.comparable else _UNDIRECTED,
        }
        for row in published.probes.rows
    )
    tables = []
    for key, read in scores.items():
        of_probes, own = probes[key], read[read["minus"].fillna("") == ""]
        rows = own.merge(theirs if key[0] in beside else theirs[:0], "outer", "system")
        starts = {name: len(right) for name, right in of_probes["right"].items()}
        rows = rows.assign(
            **_names(key),
            starts=rows["system"].map(starts),
            comparable=rows["comparable"].ne(False),
            training_sentences=of_probes["training"]["read"],
            sentences=of_probes["scored"]["read"],
            known_words=100 * of_probes["vectors"]["known"],
        )
        tables.append(rows.sort_values("system", key=lambda systems: systems.map([*_NAMES].index)))
    return _together(tables, _TABLE_3).astype({"starts": "Int64", "published": float})


def probe_tables(table: pd.DataFrame) -> Iterator[Table]:
    for (model, task), section in table.groupby(TASK_KEYS, sort=False):
        learned, scored, known = section[["training_sentences", "sentences", "known_words"]].iloc[0]
        yield Table(
            f"Clark's Table 3. Probes: {model}, {task}",
            section.assign(
                name=section["system"].map(_NAMES),
                range=[
                    f"{row.starts}: {row.least:.2f} to {row.most:.2f}" if row.starts > 1 else ""
                    for row in section.fillna({"starts": 0}).itertuples()
                ],
                **{end: section[end].where(section["starts"].notna()) for end in ("least", "most")},
            ),
            _SHOWN_3,
            brief=["system", "uas", "starts", "least", "most", *_with_values(section, ["published"])],
            about=f"Learned from {learned:,.0f} sentences, scored on {scored:,.0f}; {known:.1f} % of the scored words "
            "have a vector.",
            printed=["name", "uas", "range"],
        )


def probes_page(table: pd.DataFrame, published: Clark2019) -> str:
    data = published.data.treebank
    parts = [
        f"Published: {published.paper}, {published.probes.place}: {published.model} on the {data.source}, "
        f"{data.training_sentences:,} sentences to learn from and {data.dev_sentences:,} scored. Values are percent of "
        "words whose head is found (UAS), punctuation left out and roots included; of a probe, the mean over its "
        f"random starts, with its interval over sentences ({LEVELS}), and the range of the starts.",
        "Probes that learn from fewer sentences, or have smaller vectors, score less. The best offset and the best "
        "head are chosen on the scored sentences.",
    ]
    for shown in probe_tables(table):
        parts += [
            _heading(shown),
            shown.markdown("name", "uas", "range", *_with_values(shown.data, ["published", "remark"])),
        ]
    return document("Clark's Table 3: probes", [*parts, *_notes(published, "section 5")])


def _heading(shown: Table) -> str:
    return f"## {shown.title.partition(': ')[2]}\n\n{shown.about}"


def _notes(published: Clark2019, place: str) -> list[str]:
    return [f"- {note.place}: {note.text}\n" for note in published.notes if note.place == place]


def _with_values(values: pd.DataFrame, columns: list[str]) -> list[str]:
    return [column for column in columns if values[column].notna().any()]


def _names(key: Key) -> dict[str, str]:
    return dict(zip(TASK_KEYS, key, strict=True))


def _together(tables: Sequence[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    return pd.concat([table for table in tables if len(table)], ignore_index=True)[columns]


def _head_names(layers: Iterable, heads: Iterable) -> list[str]:
    return [
        "" if pd.isna(layer) or pd.isna(head) else head_name(int(layer), int(head))
        for layer, head in zip(layers, heads, strict=True)
    ]


def run_relations(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    published = Clark2019.read(inputs.reference)
    table = relations_table(read_each(read_best_heads, inputs.best), spec["beside"], published)
    write_table(outputs, table, relations_page(table, published), provenance, printed=relation_tables(table))


def run_coreference(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    published = Clark2019.read(inputs.reference)
    accuracies = read_each(accuracy.read_coreference, inputs.accuracies)
    table = coreference_table(accuracies, spec["beside"], published)
    write_table(outputs, table, coreference_page(table, published), provenance, printed=coreference_tables(table))


def run_probes(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    published = Clark2019.read(inputs.reference)
    scores, probes = read_each(read_probe_scores, inputs.scores), read_each(read_probes, inputs.probes)
    table = probes_table(scores, probes, spec["beside"], published)
    write_table(outputs, table, probes_page(table, published), provenance, printed=probe_tables(table))
