"""Clark's Table 1: the best head of each dependency relation, beside the best fixed offset."""

from collections.abc import Collection, Iterator, Mapping

import pandas as pd

from headtypes.analyses.relations.pairs import FILE, TOTALS
from headtypes.core.markdown import document
from headtypes.core.tables import Column, Table, TextColumn
from headtypes.papers.clark2019.language.cells import head_names, percent, signed
from headtypes.papers.clark2019.language.scores import our_relation
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.keys import TASK_KEYS, Key

_VALUES = ("accuracy", "other_accuracy", "offset_accuracy", "above_offset")
COLUMNS = [
    *TASK_KEYS,
    *("annotation", "relation", "paper", "chosen", "scored", "words", "head", "direction"),
    *(f"{name}{end}" for name in _VALUES[:2] for end in ("", "_low", "_high")),
    "offset",
    *(f"{name}{end}" for name in _VALUES[2:] for end in ("", "_low", "_high")),
    *(f"published_{name}" for name in ("head", "direction", "accuracy", "offset", "baseline")),
    *("derived", "differs", "left_out"),
]
_DIRECTIONS = {"dependent_to_head": "dependent to head", "head_to_dependent": "head to dependent"}
_NAME = ["annotation", "relation"]
_COLUMNS = [
    TextColumn("relation", "relation"),
    Column("words", "words", digits=0),
    TextColumn("head", "head", heads=True),
    TextColumn("direction", "direction", write=_DIRECTIONS.__getitem__),
    percent("accuracy", "accuracy", note="percent of words whose head is guessed; 95 % interval over sentences"),
    Column("offset", "offset", write=signed, brief="best offset"),
    percent("offset_accuracy", "of the offset"),
    percent("above_offset", "lead", note="the best head less the best offset"),
    percent("there_accuracy", "scored elsewhere"),
    percent("there_offset_accuracy", "of the offset there"),
    percent(
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
_OURS = [column.name for column in _COLUMNS[:11]]
_PUBLISHED = [
    TextColumn("paper", "relation"),
    TextColumn("published_head", "head"),
    TextColumn("published_direction", "direction", write=_DIRECTIONS.__getitem__),
    Column("published_accuracy", "accuracy", write="{:.1f}".format),
    Column("accuracy", "ours", write="{:.1f}".format),
    Column("published_offset", "offset", write=signed),
    Column("published_baseline", "of the offset", write="{:.1f}".format),
    Column("offset_accuracy", "ours, of the offset", write="{:.1f}".format),
    TextColumn("remark", "remark"),
]


def relations_table(best: Mapping[Key, pd.DataFrame], beside: Collection[str], published: Clark2019) -> pd.DataFrame:
    """The best heads of all relations.

    best:   by model and treebank, as `relations.accuracy.measure_relations` returns them.
    beside: models beside which the published values stand, on the rows that are chosen and scored as the paper does.
    returns the columns `COLUMNS`; of each model and treebank first the paper's relations in its order, then the other
      ones that are derived, the totals, and the treebank's own labels, the most frequent first. paper: the paper's name
      of the relation; head: counted from 1, empty where halves choose differently; derived, differs: from which labels
      the paper's relations are derived, and what differs in the annotation.
    """
    rows = {our_relation(row.relation): row for row in published.relations.rows}
    derived = {our_relation(it.relation): it for it in published.derived}
    tables = [pd.DataFrame(columns=COLUMNS)]
    for key, read in best.items():
        names = list(zip(read["annotation"], read["relation"], strict=True))
        known = [rows.get(name) for name in names]
        theirs = [derived.get(name) for name in names]
        shown = [
            row if key[0] in beside and way == FILE else None for row, way in zip(known, read["scored"], strict=True)
        ]
        table = read.assign(
            **dict(zip(TASK_KEYS, key, strict=True)),
            paper=["" if row is None else row.relation for row in known],
            head=head_names(read["layer"], read["head"]),
            derived=["" if it is None else it.derived for it in theirs],
            differs=["" if it is None else it.differs for it in theirs],
            **{
                f"published_{name}": [None if row is None else getattr(row, name) for row in shown]
                for name in ("head", "direction", "accuracy", "offset", "baseline")
            },
            order=[_order(name, list(rows), words) for name, words in zip(names, _counted(read), strict=True)],
        )
        tables.append(table.sort_values("order", kind="stable"))
    return pd.concat([table for table in tables if len(table)] or tables, ignore_index=True)[COLUMNS]


def relation_tables(table: pd.DataFrame) -> Iterator[Table]:
    """What `relations_table` returns as a reader sees it: a table for each model and treebank.

    The rows are chosen and scored as in the paper; the same choices as they are scored elsewhere stand beside them. In
    brief the treebank's own labels are left out, where there are others, but for the paper's row of all words.
    """
    for (model, task), section in table.groupby(TASK_KEYS, sort=False):
        same, other = section[section["scored"] == FILE], section[section["scored"] != FILE].set_index(_NAME)
        elsewhere = other.reindex(pd.MultiIndex.from_frame(same[_NAME])).add_prefix("there_")
        values = pd.concat([same.reset_index(drop=True), elsewhere.reset_index(drop=True)], axis=1)
        beside = ["published_accuracy", "published_baseline"]
        derived = values["annotation"] == "stanford"
        yield Table(
            f"Clark's Table 1. Dependency relations: {model}, {task}",
            values,
            _COLUMNS,
            brief=[*_OURS[:8], "there_above_offset", *(beside if values[beside[0]].notna().any() else [])],
            brief_rows=derived | (values["paper"].fillna("") != "") if derived.any() else None,
            about=values["left_out"].iloc[0],
            model=model,
            printed=["relation", "head", "direction", "accuracy", "offset", "offset_accuracy", "above_offset"],
        )


def relations_page(table: pd.DataFrame, published: Clark2019) -> str:
    """The table as Markdown: for each model and treebank the paper's relations, then all others."""
    parts = [
        f"Published: {published.paper}, {published.relations.place}: {published.model} on the "
        f"{published.data.treebank.source}. Accuracies are percent of words whose head in the tree is guessed, with "
        "95 % intervals over sentences. +1 is the next word. *Lead* is the best head less the best offset.",
        "Heads and offsets are chosen and scored on the same sentences, as in the paper; under *scored elsewhere* they "
        "are the same choices on the test part or, without one, choices of each half of the sentences on the other. "
        "Claims are judged on these.",
        "Where a treebank has the labels of Universal Dependencies, the paper's relations are derived from them. The "
        "last columns say from which, and what remains different, so that the values compare in order and size alone.",
    ]
    for (model, task), shown in zip(table.groupby(TASK_KEYS, sort=False).groups, relation_tables(table), strict=True):
        is_of_paper, is_published = shown.data["paper"] != "", shown.data["published_head"].notna()
        of_paper, others = shown.where(is_of_paper), shown.where(~is_of_paper)
        parts += [f"## {model}, {task}", *filter(None, [shown.about])]
        parts += ["### Relations of the paper", of_paper.markdown(*_OURS, "derived", "differs")]
        if is_published.any():
            values = shown.data[is_published].assign(
                remark=lambda rows: [published.remarks(f"relation.{name}.accuracy") for name in rows["paper"]]
            )
            parts += ["### Published", Table("", values, _PUBLISHED).markdown()]
        parts += ["### Other relations", others.markdown(*_OURS)]
    return document("Clark's Table 1: dependency relations", parts)


def _counted(read: pd.DataFrame) -> Iterator[int]:
    """The words of each row's relation where they are scored as in the paper."""
    same = read[read["scored"] == FILE]
    words = dict(zip(zip(same["annotation"], same["relation"], strict=True), same["words"], strict=True))
    return (words.get(name, 0) for name in zip(read["annotation"], read["relation"], strict=True))


def _order(name: tuple[str, str], of_paper: list[tuple[str, str]], words: int) -> tuple:
    """Where a relation stands in the table, among others."""
    annotation, relation = name
    if name in of_paper:
        return 0, of_paper.index(name), ""
    if annotation == "stanford":
        return 1, -words, relation
    return (2, TOTALS.index(relation), "") if relation in TOTALS else (3, -words, relation)
