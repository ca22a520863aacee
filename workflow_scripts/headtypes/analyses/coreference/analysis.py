"""Coreference: heads' guesses at antecedents of mentions beside baselines (Clark et al. 2019, section 4.3)."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from headtypes.analyses.declaration import Analysis, Column, best_head, by_head, words_of
from headtypes.core.files import StrPath
from headtypes.core.stage import Plan, Result, of_inputs_alone, stage
from headtypes.data.stage import ROWS
from headtypes.models.stage import RECORD

# Candidates of the guesses by which claims are decided, and of those that the atlas shows.
_DECIDING, _SHOWN = "words", "mentions"


def per_head(task: str, path: StrPath) -> list:
    note = (
        "Percent of mentions whose antecedent the head finds among earlier mentions (Clark et al. 2019, section 4.3)."
    )
    columns, group = [], f"Coreference of {task}"
    for kind, rows in _head_rows(path, _SHOWN).groupby("type", sort=False):
        label = f"antecedents, {'all mentions' if kind == 'all' else kind}"
        columns.append(Column(f"coreference.{task}.{kind}", label, group, by_head(rows)["accuracy"], "%", note=note))
    return columns


def _head_rows(path: StrPath, candidates: str) -> Any:
    from headtypes.analyses.coreference.accuracy import read_coreference

    table = read_coreference(path)
    return table[(table["system"] == "head") & (table["candidates"] == candidates)]


def best_at(task: str, path: StrPath) -> Iterator[dict]:
    from headtypes.analyses.coreference.accuracy import read_coreference

    table = read_coreference(path)
    chosen = table[table["system"].str.startswith("best_head") & (table["chosen"] == "documents")]
    chosen = chosen.sort_values("candidates", key=lambda candidates: candidates != _SHOWN, kind="stable")
    for row in chosen.dropna(subset=["layer", "head"]).to_dict("records"):
        at = f"antecedents, mentions: {row['type']}, candidates: {row['candidates']}"
        yield {**row, "at": at, "value": row["accuracy"], "above": None}


def per_set(task: str, path: StrPath, types: Any, seed: int) -> Iterator:
    for kind, rows in _head_rows(path, _DECIDING).groupby("type", sort=False):
        yield best_head("coreference", task, f"antecedents ({kind})", by_head(rows)["accuracy"].to_numpy())


ANTECEDENTS = Result(
    "results/antecedents/{model}/{task}.h5",
    "extract_antecedents",
    "which word each head takes for an antecedent, by its index",
    of=lambda plan: plan.inputs_of("coreference"),
    name="antecedents",
    content="`guess` int16 [mention, layer, head, candidates]: the word that each head looks at most from the "
    "head word of each coreferent mention, among `words`, `words_before` and `mentions`; which parts of "
    "the documents were read",
)
_measured = partial(
    Result,
    rule="measure_coreference",
    about="accuracy of heads at antecedents",
    of=lambda plan: plan.inputs_of("coreference"),
)
TABLE = _measured(
    "results/coreference/{model}/{task}.csv",
    name="coreference",
    content="the accuracy of every head (`system`: `head`), of the best one on all types (`best_head`) and on "
    "each alone (`best_head_of_type`), and of the baselines (`nearest_other`: the nearest if mentions "
    "that follow count), by type of mention and by candidates, with intervals over documents; and the best "
    "head minus each baseline",
)
SUMS = _measured(
    "results/coreference/{model}/{task}.sums.h5",
    name="coreference_sums",
    content="what the intervals of these accuracies are made from, but for single heads: `system`, `candidates`, "
    "`type`, `chosen` [row], `right` [document, row], how many antecedents it finds (`chance`: its expected number), "
    "and `mentions` [document, row], of how many mentions",
)


@stage("forward", reads="rows", calls="analyses.coreference.measure:run", inputs=(RECORD, ROWS))
def extract_antecedents(plan: Plan, model: str, task: str) -> dict:
    return {**words_of(plan, task), "extent": plan.config.coreference.documents}


measure_coreference = of_inputs_alone(
    "measure_coreference", reads="rows", calls="analyses.coreference.accuracy:run", inputs=(ANTECEDENTS, ROWS)
)


COREFERENCE = Analysis(
    "coreference",
    "antecedents: best head (% correct)",
    section="What heads know of language",
    files=(TABLE,),
    results=(ANTECEDENTS, TABLE, SUMS),
    stages=(extract_antecedents, measure_coreference),
    per_head=per_head,
    best=best_at,
    per_set=per_set,
    of_language=True,
)
