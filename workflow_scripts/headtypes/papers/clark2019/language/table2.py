"""Clark's Table 2: how often the best head and the baselines select an antecedent, by type of mention."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

import pandas as pd

from headtypes.analyses.coreference import accuracy
from headtypes.core.markdown import document
from headtypes.core.tables import Column, Table, TextColumn
from headtypes.papers.clark2019.language.cells import head_names, percent, spaced
from headtypes.papers.clark2019.language.scores import ALL, MENTIONS, READINGS
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.keys import TASK_KEYS, Key

COLUMNS = [*TASK_KEYS, *(name for name in accuracy.COLUMNS if name != "layer"), "published", "comparable"]
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
_ACCURACY = ("accuracy", "low", "high")
_PUBLISHED = [f"published_{type_}" for type_ in _TYPES]
_COLUMNS = [
    TextColumn("name", "system"),
    TextColumn("system", "system", write=spaced),
    TextColumn("among", "guess among"),
    TextColumn("chosen", "chosen", write=_CHOSEN.__getitem__),
    TextColumn("head", "head", heads=True),
    *(percent(type_, type_, note="percent of mentions, with its 95 % interval over documents") for type_ in _TYPES),
    *(Column(name, name.replace("_", ", "), write="{:g}".format) for name in _PUBLISHED),
    Column("paper", "", digits=1, brief="paper's"),
]
_OURS = ["name", "among", "chosen", "head", *_TYPES]


def coreference_table(
    accuracies: Mapping[Key, pd.DataFrame], beside: Collection[str], published: Clark2019
) -> pd.DataFrame:
    """The accuracies of the best heads and of the baselines.

    accuracies: by model and task, as `accuracy.measure_coreference` returns them.
    beside: models beside which the published values stand.
    returns the columns `COLUMNS`: those of `measure_coreference`, with heads counted from 1. The published best head
      stands beside ours on all three readings of its candidates, since the paper does not say which is its own.
    """
    theirs = {
        (row.system, type_): getattr(row, type_) for row in published.coreference.rows for type_ in (ALL, *MENTIONS)
    }
    tables = [pd.DataFrame(columns=COLUMNS)]
    for key, read in accuracies.items():
        # Empty cells of CSV.
        rows = read[read["system"] != "head"].assign(chosen=read["chosen"].fillna(""))
        known = [
            theirs.get((row.system, row.type)) if key[0] in beside and row.chosen != "halves" else None
            for row in rows.itertuples()
        ]
        names = {"head": head_names(rows["layer"], rows["head"]), "published": known, "comparable": True}
        tables.append(rows.assign(**dict(zip(TASK_KEYS, key, strict=True)), **names))
        if key[0] in beside:
            tables.append(pd.DataFrame(_others(key, rows, published)))
    return pd.concat([table for table in tables if len(table)] or tables, ignore_index=True)[COLUMNS]


def coreference_tables(table: pd.DataFrame) -> Iterator[Table]:
    """A table for each model and task, with a row for each system, reading of candidates, and way of choosing.

    In brief it has what is chosen as in the paper.
    """
    for (model, task), section in table.fillna(dict.fromkeys(("candidates", "chosen", "head"), "")).groupby(
        TASK_KEYS, sort=False
    ):
        values = pd.DataFrame(_lines(section))
        counts = section[section["system"] == "nearest"].set_index("type").loc[ALL]
        in_brief = (values["candidates"] != "") & (values["chosen"] != "halves")
        in_brief &= values["system"] != "best_head_of_type"
        beside = ["paper"] if values.loc[in_brief, "paper"].notna().any() else []
        yield Table(
            f"Clark's Table 2. Coreference: {model}, {task}",
            values,
            _COLUMNS,
            brief=["system", "among", "head", *_TYPES, *beside],
            brief_rows=in_brief,
            about=f"{counts['mentions']:,.0f} mentions with an antecedent, in {counts['documents']:,.0f} documents.",
            model=model,
            printed=["name", "among", "head", *_TYPES],
        )


def coreference_page(table: pd.DataFrame, published: Clark2019) -> str:
    """The table as Markdown: a row for each system, reading of candidates, and way of choosing."""
    place = published.coreference.place
    parts = [
        f"Published: {published.paper}, {place}: {published.model} on {published.data.coreference.source}. Accuracies "
        "are percent of coreferent mentions for which an antecedent is selected, with 95 % intervals over documents.",
        "A head's guess is the word that the mention's head word looks at most, among all other words of the part "
        "(`words`: the paper's words taken literally), among those before it (`words_before`), or among the head words "
        "of the mentions that end before it starts (`mentions`), as the baselines choose. For one and the same head "
        "these differ, so that no number says anything without its reading, and a claim is decided only where all "
        "three decide it alike.",
        "The best head is chosen on all mentions of all documents, as in the paper, or of the documents of even "
        "index for those of odd index, and the other way round.",
    ]
    for ((model, task), section), shown in zip(
        table.groupby(TASK_KEYS, sort=False), coreference_tables(table), strict=True
    ):
        nearest = section[section["system"] == "nearest"].set_index("type")
        counts, of_type = nearest.loc[ALL], nearest["mentions"]
        types = ", ".join(f"{of_type[name]:.0f} {name}" for name in MENTIONS if name in of_type)
        ordered = shown.data.sort_values("system", key=lambda it: it.map(list(_SYSTEMS).index), kind="stable")
        has_published = ordered[_PUBLISHED].notna().any(axis=None)
        parts += [
            f"## {model}, {task}",
            f"{counts['mentions']:.0f} coreferent mentions in {counts['documents']:.0f} documents: {types}.",
            replace(shown, data=ordered).markdown(*_OURS, *(_PUBLISHED if has_published else [])),
        ]
    parts += [f"- {note.place}: {note.text}\n" for note in published.notes if note.place == "section 4.3"]
    return document("Clark's Table 2: coreference", parts)


def _others(key: Key, rows: pd.DataFrame, published: Clark2019) -> Iterator[dict]:
    """Published systems that we do not have."""
    for row in published.coreference.rows:
        if row.system not in set(rows["system"]):
            yield {
                **dict(zip(TASK_KEYS, key, strict=True)),
                **dict.fromkeys(("candidates", "chosen", "head"), ""),
                "system": row.system,
                "type": ALL,
                "published": row.all,
                "comparable": row.comparable,
            }


def _lines(section: pd.DataFrame) -> Iterator[dict]:
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
        for column, given in zip(("{}", "{}_low", "{}_high", "published_{}"), (*_ACCURACY, "published"), strict=True):
            line |= {column.format(type_): by_type.loc[type_, given] for type_ in _TYPES}
        yield line | {"paper": line[_PUBLISHED[0]]}
