"""What a model copies from needles without the heads that retrieve them, beside as many random heads."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float, Int64
from tqdm import tqdm
from transformers import PreTrainedModel

from headtypes.analyses.detectors.needles import Needles, draw_needles
from headtypes.analyses.detectors.results import OF_NEEDLES, RETRIEVAL
from headtypes.attention.ablate import Ablation
from headtypes.attention.batches import Batch, run_batches
from headtypes.attention.operations import Reading
from headtypes.attention.run import ModelOnTask
from headtypes.attention.shared_layers import shared_layers
from headtypes.core.errors import InputError
from headtypes.core.progress import progress
from headtypes.core.seeds import derive_seed
from headtypes.core.statistics import crossed_intervals
from headtypes.data.answering import logits_of_some
from headtypes.data.encoding import Encoded
from headtypes.models.loading import MissingHeadError
from headtypes.models.records import ModelRecord

Places = Int64[np.ndarray, "text token"]
Predicted = Float[np.ndarray, "measure set text token"]


class Asked(NamedTuple):
    """A language model, and the texts with needles that it is asked about; what: both, for progress and messages."""

    model: PreTrainedModel
    needles: Needles
    what: str


def ask(
    record: ModelRecord,
    *,
    texts: int,
    context: int,
    seed: int,
    precision: str,
    batch_tokens: int,
    documents: Sequence[str] | None = None,
) -> Asked | None:
    """Load a model to ask it about texts with needles; None for one without a language head.

    record: the model, as `models.fetching.fetch_model` found it.
    texts, context, documents: as in `needles.draw_needles`. seed: of the texts, which differ from those in which heads
        are found.
    precision, batch_tokens: arithmetic of the forward pass, and padded tokens of a batch.
    Raises `InputError` where texts of this length cannot be drawn.
    """
    run = ModelOnTask(record, task="needles", precision=precision, batch_tokens=batch_tokens, head="causal_lm")
    try:
        model = run.model
    except MissingHeadError:
        return None
    drawn = {"texts": texts, "context": context, "documents": documents, "seed": derive_seed(seed, "texts")}
    return Asked(model, draw_needles(run.tokenizer, max_length=record.max_length, model=record.name, **drawn), run.what)


def measure_retrieval(
    record: ModelRecord, detected: pd.DataFrame, *, draws: int, seed: int, batch_tokens: int, **settings
) -> pd.DataFrame:
    """Measure how well a model copies what a text asks for, without the heads that detectors of needles find.

    record, batch_tokens, settings: as in `ask`.
    detected: its heads, as `results.detector_table` returns them.
    draws:    sets of random heads beside each set that is found. seed: of texts, heads and intervals.

    returns the rows of `retrieval_table` for each detector of needles that finds a head; none for a model without a
        language head.
    Raises `InputError` as `ask`, and where a loss is not finite.
    """
    sets = head_sets(detected, draws, seed)
    asked = ask(record, seed=seed, batch_tokens=batch_tokens, **settings) if sets else None
    if asked is None:
        return pd.DataFrame(columns=list(RETRIEVAL))
    tables = []
    for detector, of_detector in sets.items():
        of_all = np.concatenate([np.zeros_like(of_detector[:1]), of_detector])
        found = predict_tokens(
            *(asked.model, asked.needles.encoded, *values_of(asked.needles), of_all),
            batch_tokens=batch_tokens,
            what=f"{asked.what}, without the heads of {detector}",
        )
        tables.append(retrieval_table(of_detector, found, seed=seed).assign(detector=detector))
    return pd.concat(tables, ignore_index=True)[list(RETRIEVAL)]


def head_sets(detected: pd.DataFrame, draws: int, seed: int) -> dict[str, Bool[np.ndarray, "set layer head"]]:
    """The heads that each detector of needles finds and, behind them, random sets of as many heads of the same layers.

    They are drawn from heads that no detector of needles finds; where a layer has fewer of these, all of them.
    """
    shape = tuple(1 + detected[["layer", "head"]].max())
    of = {
        name: rows.sort_values(["layer", "head"])["detected"].to_numpy(bool).reshape(shape)
        for name, rows in detected.groupby("detector", sort=False)
        if name in OF_NEEDLES
    }
    free, sets = ~np.any([np.zeros(shape, bool), *of.values()], axis=0), {}
    for name, found in of.items():
        drawn = np.zeros((draws, *shape), bool)
        for number, layer in np.ndindex(draws, shape[0]):
            generator = np.random.default_rng(derive_seed(seed, name, number, layer))
            drawn[number, layer, generator.permutation(np.flatnonzero(free[layer]))[: found[layer].sum()]] = True
        if found.any():
            sets[name] = np.concatenate([found[None], drawn])
    return sets


def values_of(needles: Needles) -> tuple[Places, Places]:
    """Where the tokens of the values that the texts ask for are predicted, and the tokens: each [text, token]."""
    values = np.take_along_axis(np.array(needles.encoded.input_ids), needles.targets[:, 0], axis=1)
    return np.broadcast_to(needles.asking, values.shape), values


def predict_tokens(
    model: PreTrainedModel,
    encoded: Encoded,
    asking: Places,
    wanted: Places,
    sets: Bool[np.ndarray, "set layer head"],
    *,
    batch_tokens: int,
    what: str,
) -> Predicted:
    """How a model predicts tokens of texts while the output of each set of heads is zero.

    asking: the places after which each token comes. wanted: the tokens that come there.
    returns two measures: the cross entropy in nats, and whether the token is the likeliest one (1 or 0).
    """
    operations = np.where(sets, "zero", "keep")
    ids, places, tokens = encoded.input_ids, torch.from_numpy(asking.copy()), torch.from_numpy(wanted)
    found = np.full((2, len(sets), *wanted.shape), np.nan)
    chosen: list[torch.Tensor] = []

    def run_batch(batch: Batch, shown: tqdm) -> None:
        texts = len(batch.samples)
        chosen[:] = torch.arange(texts).repeat_interleave(places.shape[1]), places[batch.samples].flatten()
        sentences = [np.full(len(ids[text]), -1) for text in batch.samples]
        hooks = (Ablation(each, sentences, Reading()) for each in operations)
        for number, output in enumerate(run_passes(batch.inputs, hooks)):
            # All tokens, where a model computes its logits in a way of its own.
            logits = output.logits[*chosen] if output.logits.dim() == 3 else output.logits
            target = tokens[batch.samples].flatten().to(logits.device)
            losses = torch.nn.functional.cross_entropy(logits.float(), target, reduction="none")
            for measure, of_tokens in enumerate((losses, logits.argmax(-1) == target)):
                found[measure, number, batch.samples] = of_tokens.view(texts, -1).cpu()
            shown.update(texts)

    with (
        progress(len(sets) * len(ids), what, "texts") as bar,
        shared_layers(model, operations) as run_passes,
        logits_of_some(model, lambda: tuple(chosen)),
    ):
        run_batches(model, ids, encoded.token_types, run_batch, batch_tokens=batch_tokens, what=what, bar=bar)
    if not np.isfinite(found).all():
        raise InputError(f"{what}: the loss is not finite; run it in float32 or bfloat16, or check the weights.")
    return found


def retrieval_table(sets: Bool[np.ndarray, "set layer head"], found: Predicted, *, seed: int) -> pd.DataFrame:
    """What is copied without the heads that were found, beside random ones.

    sets:  as `head_sets` gives them. found: as `predict_tokens`, of the plain model and then of the sets.
    seed:  of the intervals.

    returns a row for each `measure` (loss in nats per token; copied: tokens that are the likeliest ones, in percent) of
        each part of the value (`of`: the whole of it, or its first token, which the key alone tells), the columns
      heads, random_heads: how many are taken away, and how many on average where they are random;
      plain, without, random: means with all heads, without those that were found, and without random ones;
      random_low, random_high: least and most that a draw of random ones has;
      difference, low, high: without less random, and its 95 % interval over texts and draws.
    """
    rows = []
    for measure, unit, tokens in zip(("loss", "copied"), (1, 100), found, strict=True):
        for of, part in (("value", tokens), ("first token", tokens[..., :1])):
            plain, without, *random = values = unit * part.mean(-1)
            differences = without - values[2:]
            low, high = crossed_intervals(differences, seed=seed)
            of_draws = np.mean(random, axis=1)
            rows.append(
                {"heads": sets[0].sum(), "random_heads": sets[1:].sum((1, 2)).mean(), "of": of, "measure": measure}
                | {"plain": plain.mean(), "without": without.mean(), "random": of_draws.mean()}
                | {"random_low": of_draws.min(), "random_high": of_draws.max()}
                | {"difference": differences.mean(), "low": float(low), "high": float(high)}
            )
    return pd.DataFrame(rows)
