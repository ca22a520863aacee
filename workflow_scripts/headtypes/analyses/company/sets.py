"""Sets of heads, drawn at random, and the scores of a model without each set."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from headtypes.analyses.ablation.evaluation import Evaluator, Settings, read_head_outputs
from headtypes.analyses.company.results import DEEP, LOSS, Company
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, canonical_json, sha256_path
from headtypes.core.hdf5_files import read_arrays, write_arrays
from headtypes.core.progress import warn
from headtypes.data.answering import GOLD_LOSS
from headtypes.data.tasks import metrics_in, read_rows, sizes_in
from headtypes.data.windows import Windows, draw_part, read_windows
from headtypes.models.records import ModelRecord, read_model_record

# One head in so many of a layer; in deep models, of one layer in so many.
_ONE_IN, _LAYERS_IN = 12, 3
# Of the default: how often each head is away at least, and the least number of sets.
_AWAY, _SETS = 13, 150
# Sets that are evaluated before they are kept.
_TOGETHER = 10


def draw_sets(layers: int, heads: int, *, sets: int | None, per_layer: int | None, seed: int) -> np.ndarray:
    """Return random sets of heads, each to be left out together: [set, layer, head] bool.

    layers, heads: number of layers of the model, and of heads in a layer. sets: number of sets; None for as many as put
    each head in 13 sets, and at least 150. per_layer: heads of a layer in a set; None for one in twelve. seed: of the
    draw; with the same seed, more sets begin with the same sets. A set has heads of all layers or, in models of more
    than twelve layers, of a third of the layers. All heads are in about equally many sets. Raises `InputError` if a
    layer has fewer heads than `per_layer`, or if a head would be in no set.
    """
    per_layer = per_layer or max(1, round(heads / _ONE_IN))
    if per_layer > heads:
        raise InputError(
            f"company.per_layer asks for {per_layer} heads of a layer, but a layer of the model has {heads}."
        )
    share = _LAYERS_IN if layers > DEEP else 1
    round_of = share * ceil(heads / per_layer)
    sets = max(_SETS, round_of * _AWAY) if sets is None else sets
    if sets < round_of:
        raise InputError(
            f"company.sets asks for {sets} sets, in which some of the model's {layers * heads} heads would never be "
            f"away; ask for at least {round_of}."
        )
    # In each round, a layer's heads are dealt to sets in random order.
    drawn = np.concatenate(
        [_round(layers, heads, per_layer, share, [seed, number]) for number in range(ceil(sets / round_of))]
    )
    return drawn[:sets]


# Each head is away once, or twice if heads do not divide evenly; a set has heads of one in `share` layers.
def _round(layers: int, heads: int, per_layer: int, share: int, seed: list[int]) -> np.ndarray:
    rng, hands = np.random.default_rng(seed), ceil(heads / per_layer)
    away = np.zeros((share * hands, layers, heads), bool)
    turns = [[] for _ in range(layers)]
    for hand in range(hands):
        # Which of `share` consecutive sets takes heads of each layer.
        for place, some in enumerate(np.array_split(rng.permutation(layers), share)):
            for layer in some:
                turns[layer].append(hand * share + place)
    for layer, sets_of_layer in enumerate(turns):
        order = rng.permutation(heads)
        order = np.concatenate([order, order[: hands * per_layer - heads]]).reshape(hands, per_layer)
        for number, some in zip(sets_of_layer, order, strict=True):
            away[number, layer, some] = True
    return away


def evaluate_company(
    rows: list,
    windows: Windows,
    record: ModelRecord,
    head_outputs: np.ndarray | None = None,
    *,
    sets: int | None,
    per_layer: int | None,
    operation: str,
    questions: int | str,
    seed: int,
    made: str = "",
    earlier: Company | None = None,
    **settings,
) -> Iterator[Company]:
    """Yield a model's scores while random sets of heads are ablated: after every ten sets, all scores so far.

    rows, windows: questions, pairs or documents, and their windows. record: the fetched model. head_outputs: mean
    outputs of heads, [layer, head, channel], for the operation `mean`. sets: number of sets; None for as many as put
    each head into 13, but at least 150. per_layer: heads of a layer in a set; None for one in twelve. operation: done
    to heads of a set, such as `zero`. questions: how many rows are drawn at random, or "all". seed: of the sets and
    of the rows. made: JSON of all that scores depend on except `sets`. earlier: scores of an earlier run, which are
    used again if the run's `made` is the same. settings: fields of `ablation.evaluation.Settings`.
    """
    away = draw_sets(record.layers, record.heads, sets=sets, per_layer=per_layer, seed=seed)
    known = earlier if earlier is not None and earlier.made == made else None
    if known is not None:
        count = min(len(known.away), len(away))
        known = replace(known, away=away[:count], scores=known.scores[:count])
        if count == len(away):
            yield known
            return
    rows, windows = draw_part(rows, windows, questions, seed)
    evaluator = Evaluator(rows, windows, record, head_outputs, Settings(**settings), gold=True)
    what = f"{record.name}, heads in random company"
    if known is None:
        ((_, scores),) = evaluator.evaluate([np.full(away.shape[1:], "keep", object)], what)
        metrics = [LOSS, *(metric.name for metric in metrics_in(scores) if metric.name != LOSS)]
        scores = scores[scores[GOLD_LOSS].notna()]
        if scores.empty:
            raise InputError(
                "No window has the whole of what is right, so that there is no loss; make windows.max_seq_length "
                "larger."
            )
        whole, sizes = _values(scores, metrics), sizes_in(scores)
        known = Company(
            away=away[:0],
            scores=np.empty((0, *whole.shape)),
            whole=whole,
            sizes=np.ones(len(scores)) if sizes is None else sizes,
            metrics=metrics,
            units=scores["id"].tolist(),
            articles=scores["article"].tolist() if "article" in scores else [""] * len(scores),
            made=made,
        )
    while (done := len(known.away)) < len(away):
        some = away[done : done + _TOGETHER]
        operations = [np.where(heads_away, operation, "keep").astype(object) for heads_away in some]
        found = [scores.set_index("id").loc[known.units] for _, scores in evaluator.evaluate(operations, what)]
        scored = np.stack([_values(scores, known.metrics) for scores in found])
        known = replace(known, away=away[: done + len(some)], scores=np.concatenate([known.scores, scored]))
        yield known


def _values(scores: pd.DataFrame, metrics: list[str]) -> np.ndarray:
    columns = {metric.name: metric.column for metric in metrics_in(scores)} | {LOSS: GOLD_LOSS}
    return scores[[columns[metric] for metric in metrics]].to_numpy(float)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    rows, windows = read_rows(inputs.questions, spec["kind"]), read_windows(inputs.windows)
    outputs_of_heads = inputs.company_outputs or None
    files = filter(None, [inputs.questions, inputs.windows, inputs.model, outputs_of_heads])
    settings = {name: value for name, value in spec.items() if name != "sets"}
    made = canonical_json([settings, provenance["code"], *map(sha256_path, files)])
    # Outside of the results, in a file that no rule declares, so that Snakemake does not delete it.
    kept = kept_for(outputs.company)
    try:
        earlier = read_arrays(kept, Company) if kept.exists() else None
    except InputError:
        earlier = None  # Whatever is damaged is evaluated again.
    record, head_outputs = read_model_record(inputs.model), read_head_outputs(outputs_of_heads)
    for company in evaluate_company(rows, windows, record, head_outputs, **spec, made=made, earlier=earlier):
        write_arrays(kept, company, provenance)
    if missing := len(draw_part(rows, windows, spec["questions"], spec["seed"])[0]) - len(company.units):
        warn(provenance, [f"{missing} questions are left out, since no window has the whole of what is right."])
    write_arrays(outputs.company, company, provenance)


def kept_for(path: StrPath) -> Path:
    before, folder, after = Path(path).as_posix().rpartition("results/")
    return Path(before, "kept", after) if folder else Path(path).with_suffix(".kept.h5")
