"""Clark's Table 2: how often the best head and the baselines select an antecedent, by type of mention."""

from collections.abc import Collection, Iterator, Mapping

import pandas as pd

from headtypes.core.markdown import document, markdown_table
from headtypes.papers.clark2019.language.cells import column_with_ends, head_names
from headtypes.papers.clark2019.language.comparison import READINGS
from headtypes.papers.clark2019.language.quantities import ALL
from headtypes.papers.clark2019.language.rules import MENTIONS
from headtypes.papers.clark2019.published import Clark2019

Key = tuple[str, str]
KEYS = ["model", "task"]
# Of what `measure_coreference` writes.
READ = ("system", "candidates", "type", "chosen", "layer", "head", "mentions", "documents", "accuracy", "low", "high")
COLUMNS = [*KEYS, *(name for name in READ if name != "layer"), "published", "comparable"]
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
        tables.append(rows.assign(**dict(zip(KEYS, key, strict=True)), **names))
        if key[0] in beside:
            tables.append(pd.DataFrame(_others(key, rows, published)))
    return pd.concat([table for table in tables if len(table)] or tables, ignore_index=True)[COLUMNS]


def coreference_page(table: pd.DataFrame, published: Clark2019) -> str:
    """The table as Markdown: a row for each system, reading of candidates, and way of choosing."""
    place = published.coreference.place
    parts = [
        f"Published: {published.paper}, {place}: {published.model} on {published.data.coreference.source}. Accuracies "
        "are percent of coreferent mentions for which an antecedent is selected, with 95 % intervals over documents.",
        "A head's guess is the word that the mention's head word looks at most, among all other words of the part "
        "(`words`: the paper's words taken literally; claims are judged on it), among those before it "
        "(`words_before`), or among the head words of the mentions that end before it starts (`mentions`), as the "
        "baselines choose. For "
        "one and the same head these differ, so that no number says anything without its reading.",
        "The best head is chosen on all mentions of all documents, as in the paper, or of the documents with even "
        "places for those with odd places, and the other way round.",
    ]
    for (model, task), section in table.groupby(KEYS, sort=False):
        ours = section[section["accuracy"].notna()]
        counts = ours[(ours["type"] == ALL) & (ours["system"] == "nearest")].iloc[0]
        of_type = ours[ours["system"] == "nearest"].set_index("type")["mentions"]
        types = ", ".join(f"{of_type[name]:.0f} {name}" for name in MENTIONS if name in of_type)
        parts += [
            f"## {model}, {task}",
            f"{counts['mentions']:.0f} coreferent mentions in {counts['documents']:.0f} documents: {types}.",
            markdown_table(pd.DataFrame(_lines(section))),
        ]
    parts += [f"- {note.place}: {note.text}\n" for note in published.notes if note.place == "section 4.3"]
    return document("Clark's Table 2: coreference", parts)


def _others(key: Key, rows: pd.DataFrame, published: Clark2019) -> Iterator[dict]:
    """Published systems that we do not have."""
    for row in published.coreference.rows:
        if row.system not in set(rows["system"]):
            yield {
                **dict(zip(KEYS, key, strict=True)),
                **dict.fromkeys(("candidates", "chosen", "head"), ""),
                "system": row.system,
                "type": ALL,
                "published": row.all,
                "comparable": row.comparable,
            }


def _lines(section: pd.DataFrame) -> Iterator[dict]:
    section = section.assign(shown=column_with_ends(section, "accuracy", "low", "high"))
    ranks = {system: place for place, system in enumerate(_SYSTEMS)}
    keys = ["system", "candidates", "chosen"]
    has_published = section["published"].notna().any()
    groups = sorted(section.groupby(keys, sort=False), key=lambda group: ranks[group[0][0]])
    for (system, candidates, chosen), rows in groups:
        by_type = rows.set_index("type")
        line = {
            "system": _SYSTEMS[system] if rows["comparable"].all() else f"{_SYSTEMS[system]}, not comparable",
            "guess among": READINGS[candidates].removeprefix("among ") if system.startswith("best_head") else "",
            "chosen": _CHOSEN[chosen],
            "head": "; ".join(dict.fromkeys(filter(None, rows["head"]))),
        }
        if system == "best_head_of_type":
            line["head"] = "; ".join(f"{row.type} {row.head}" for row in rows.itertuples() if row.head)
        for type_ in (ALL, *MENTIONS):
            line[type_] = by_type["shown"].get(type_, "")
        if has_published:
            for type_ in (ALL, *MENTIONS):
                number = by_type["published"].get(type_)
                line[f"published, {type_}"] = "" if pd.isna(number) else f"{number:g}"
        yield line
