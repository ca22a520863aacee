"""The heads that are best at the relations of Clark's Figure 5, and at coreference, and maps of what they look at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import h5py
import numpy as np
import pandas as pd

from headtypes.analyses.coreference.accuracy import read_coreference
from headtypes.analyses.coreference.mentions import CANDIDATES
from headtypes.analyses.relations.accuracy import chosen_and_scored_on_file, read_best_heads
from headtypes.core.files import StrPath
from headtypes.core.hdf5_files import add_data, new_result
from headtypes.papers.clark2019.language.scores import ALL, our_relation

# What the figure shows: relations by the paper's names, and coreference.
RELATIONS = ("dobj", "det", "poss", "auxpass", "pobj")
COREFERENCE = "coreference"


class BestHead(NamedTuple):
    """A head, from 0, that is best at a phenomenon, one of `RELATIONS` or `COREFERENCE`, with its accuracy in percent.

    direction: as in `relations.guesses.DIRECTIONS`; coreference has none.
    """

    phenomenon: str
    layer: int
    head: int
    direction: str
    accuracy: float


def best_of_relations(table: pd.DataFrame) -> Iterator[BestHead]:
    """Of each relation in the table, the head that is chosen and scored on the same sentences, as in the paper."""
    rows = chosen_and_scored_on_file(table).set_index(["annotation", "relation"])
    for relation in RELATIONS:
        if (name := our_relation(relation)) in rows.index:
            row = rows.loc[name]
            yield BestHead(relation, int(row["layer"]), int(row["head"]), row["direction"], float(row["accuracy"]))


def best_of_mentions(table: pd.DataFrame) -> BestHead:
    """The best head of all mentions, among all other words."""
    best = table[(table["system"] == "best_head") & (table["candidates"] == CANDIDATES[0])]
    row = best[(best["type"] == ALL) & (best["chosen"] == "documents")].iloc[0]
    return BestHead(COREFERENCE, int(row["layer"]), int(row["head"]), "", float(row["accuracy"]))


def phenomena_of_heads(relations: Sequence[StrPath], mentions: Sequence[StrPath]) -> dict[tuple[int, int], str]:
    """What heads of a model are best at, by layer and head, from its first table of relations and of mentions."""
    best_heads = [best for path in relations[:1] for best in best_of_relations(read_best_heads(path))]
    best_heads += [best_of_mentions(read_coreference(path)) for path in mentions[:1]]
    heads: dict[tuple[int, int], list[str]] = {}
    for best in best_heads:
        heads.setdefault((best.layer, best.head), []).append(best.phenomenon)
    return {head: ", ".join(phenomena) for head, phenomena in heads.items()}


@dataclass(frozen=True)
class SentenceMap:
    """The attention of the best head for a phenomenon, among the words of one sentence or of a few.

    words:     [index] with the special tokens, where they are shown.
    marked:    indices of the words that have the relation, or are head words of mentions.
    attention: [index, index] float32.
    """

    best: BestHead
    words: list[str]
    marked: list[int]
    attention: np.ndarray


def write_sentence_maps(path: StrPath, maps: list[SentenceMap], provenance: dict) -> None:
    """Write maps as a whole file, with their provenance."""
    with new_result(path, provenance) as file:
        for number, shown in enumerate(maps):
            group = file.create_group(f"{number:03d}", track_order=True)
            add_data(group, "attention", shown.attention)
            group.create_dataset("word", data=shown.words, dtype=h5py.string_dtype(), track_times=False)
            group.create_dataset("marked", data=np.array(shown.marked, np.int32), track_times=False)
            for name, value in shown.best._asdict().items():
                group.attrs[name] = value
