"""Dependency relations: heads' guesses at syntactic heads beside fixed offsets (Clark et al. 2019, section 4.2)."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from headtypes.analyses.declaration import Analysis, Column, Measure, best_head, by_head, categories_of, words_of
from headtypes.core.files import StrPath
from headtypes.core.stage import Plan, Result, given, of_inputs_alone, stage
from headtypes.data.stage import ROWS, test
from headtypes.models.stage import RECORD


def per_head(task: str, path: StrPath, best: StrPath) -> list:
    from headtypes.analyses.relations.accuracy import TOTALS, chosen_and_scored_on_file, read_best_heads, read_relations

    table, offsets = read_relations(path), chosen_and_scored_on_file(read_best_heads(best))
    table = table[(table["part"] == "file") & (table["annotation"] == "universal")]
    # Totals are not relations, and a name with a star unites some.
    table = table[~table["relation"].isin(TOTALS) & ~table["relation"].str.endswith(":*")]
    table = table.merge(offsets[["annotation", "relation", "offset_accuracy"]], on=["annotation", "relation"])
    table["above"] = table["accuracy"] - table["offset_accuracy"]
    top = by_head(table.dropna(subset=["above"]).sort_values("above").drop_duplicates(["layer", "head"], keep="last"))
    is_above = top["above"] > 0
    if not is_above.any():
        return []
    categories, indices = categories_of(top["relation"].where(is_above, None))
    group = f"Relations of {task}"
    note = "The relation at which the head is farthest above the best fixed offset (Clark et al. 2019, section 4.2)."
    above = f"points of {task}'s best relation above the best fixed offset"
    return [
        Column(f"relation.{task}", "best relation", group, indices, categories=categories, note=note),
        Column(f"above.{task}", above, group, top["above"].where(is_above), note=note),
    ]


def best_at(task: str, path: StrPath, best: StrPath) -> Iterator[dict]:
    from headtypes.analyses.relations.accuracy import chosen_and_scored_on_file, read_best_heads

    chosen = chosen_and_scored_on_file(read_best_heads(best)).dropna(subset=["layer", "head"])
    for row in chosen.to_dict("records"):
        at = f"{row['relation']}, from {row['direction'].replace('_', ' ')}"
        yield {**row, "at": at, "value": row["accuracy"], "above": row["above_offset"]}


def per_set(task: str, path: StrPath, types: Any, seed: int) -> Iterator:
    import numpy as np

    from headtypes.analyses.relations.accuracy import TOTALS, read_relations

    heads = read_relations(path)
    for annotation, rows in heads[heads["part"] == "file"].groupby("annotation", sort=False):
        best_of_all, names = [], set(rows["relation"])
        for relation, scores in rows.groupby("relation", sort=False):
            accuracy = scores.groupby(["layer", "head"])["accuracy"].max().sort_index().to_numpy()
            yield best_head("relations", task, f"{relation} ({annotation})", accuracy)
            # A row with a star unites a relation with its subtypes, and poss* has the words of poss.
            counts = relation not in TOTALS and not relation.endswith(":*") and f"{relation}*" not in names
            if counts and not np.isnan(accuracy).all():
                best_of_all.append(int(np.nanargmax(accuracy)))
        if best_of_all:
            yield Measure(
                "relations",
                task,
                f"relations ({annotation})",
                "best head here",
                lambda sets, best=tuple(best_of_all): sets[:, best].sum(1).astype(float),
            )


ARCS = Result(
    "results/arcs/{model}/{task}.h5",
    "extract_arcs",
    "which word each head takes for the syntactic head, by its index",
    of=lambda plan: plan.inputs_of("treebank"),
    name="arcs",
    content="for each part of a treebank (`file`, `test`): `guess` int16 [word, layer, head, direction], what "
    "each head guesses to be the syntactic head of each word, first from dependent to head, then from "
    "head to dependent (1: the first word of the sentence, -1: no guess); `visible`, the first and the "
    "last word that a guess could be; `to_sep` float16 [word, layer, head], the share of each word's "
    "attention that goes to `[SEP]`, NaN where it can see none; `sentence` and `length`, which sentences were "
    "read and how many words they have",
)
_measured = partial(
    Result,
    rule="measure_relations",
    about="accuracy of heads at dependency relations",
    of=lambda plan: plan.inputs_of("treebank"),
)
HEADS = _measured(
    "results/relations/{model}/{task}.csv",
    name="relations",
    content="the accuracy of every head in each direction at each relation, also over those words alone whose "
    "head it can see; empty where it can see none",
)
BEST = _measured(
    "results/relations/{model}/{task}.best.csv",
    name="relations_best",
    content="for each relation the best head, its direction and accuracy, the best of the other direction, the "
    "best offset, and the differences, such as `forward_above_backward`, with intervals over sentences; how "
    "much attention goes to `[SEP]` in the best head, of the words that look at the other word of the relation "
    "(`to_sep`) and of all others (`to_sep_others`); "
    "chosen and scored on `file` (the paper), and chosen on `file` and scored on `test`, or by `halves`",
)
SUMS = _measured(
    "results/relations/{model}/{task}.sums.h5",
    name="relations_sums",
    content="what the best heads are scored on, sentence by sentence, for each way of choosing (`file`, and `test` or "
    "`halves`, which are two folds): `annotation`, `relation` [relation]; `chosen` [relation, fold, 6], layer, head "
    "and direction (0: from dependent to head), the layer and head of the other direction (-1: none) and the index of "
    "the offset (-3, -2, -1, 1, 2, 3); `right` [sentence, relation, 5], the sums over words of `accuracy`, "
    "`other_accuracy`, `offset_accuracy`, `above_offset` and `forward_above_backward`, as shares; `words` [sentence, "
    "relation], their number; `visible` [relation], how many can be found; `to_sep` and `to_sep_words` [sentence, "
    "relation, 4], sum and number of the shares of attention to `[SEP]`, of words that look at the other word of the "
    "relation, of all others, of non-nouns, and of those that are no pronouns either; of every head [relation, fold, "
    "layer, head] `leads`, the points above the best offset where heads are chosen, and `rises`, what it gives `[SEP]` "
    "of words that do not look at the other word less that of those that do, where they are scored; `looks` [fold, "
    "layer, head], what it gives `[SEP]` of all words where heads are chosen",
)
OFFSETS = Result(
    "results/offsets/{task}.csv",
    "measure_offsets",
    "how often a word at a fixed offset is the syntactic head",
    of=lambda plan: [{"task": task} for task in plan.tasks_of("treebank")],
    name="offsets",
    content="for each relation of a treebank, how often the head is the word at a fixed offset: `part` (`file`, its "
    "sentences of `even` and `odd` index, `test`), `annotation` (`universal`: the labels as they are; "
    "`stanford`: derived from them), `relation`, `words`, `offset`, `accuracy` in percent",
)


@stage("forward", reads="rows", calls="analyses.relations.measure:run", inputs=(RECORD, ROWS, test))
def extract_arcs(plan: Plan, model: str, task: str) -> dict:
    return words_of(plan, task)


@stage(reads="rows", calls="analyses.relations.accuracy:run", inputs=(ARCS, ROWS, test))
def measure_relations(plan: Plan, model: str, task: str) -> dict:
    return given(plan.config.relations)


measure_offsets = of_inputs_alone(
    "measure_offsets", reads="rows", calls="analyses.relations.accuracy:run_offsets", inputs=(ROWS, test)
)


RELATIONS = Analysis(
    "relations",
    "relations: best head (% correct)",
    section="What heads know of language",
    files=(HEADS, BEST),
    results=(ARCS, HEADS, BEST, SUMS, OFFSETS),
    stages=(extract_arcs, measure_relations, measure_offsets),
    per_head=per_head,
    best=best_at,
    per_set=per_set,
    line=lambda quantity, statistic: (
        "number of best heads" if statistic == "best head here" else quantity.rpartition(" (")[0].replace("_", " ")
    ),
    of_language=True,
)
