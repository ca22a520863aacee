"""Probes that read the heads of one type alone, and those of as many random heads."""

from collections.abc import Sequence

import numpy as np
import torch

from headtypes.analyses.probes.maps import read_sentences
from headtypes.analyses.probes.measure import train_and_parse
from headtypes.analyses.probes.parsers import AttentionOfSome, Trainer, generators_of
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.words.settings import Root, Subwords
from headtypes.attention.run import ModelOnTask
from headtypes.core.errors import InputError
from headtypes.core.seeds import derive_seed
from headtypes.data.kinds.treebank import Sentence
from headtypes.models.records import ModelRecord

# Sets of random heads beside each type; each is read by one probe.
_DRAWS = 5


def train_type_probes(
    training: Sequence[Sentence],
    scored: Sequence[Sentence],
    record: ModelRecord,
    partition: Partition,
    *,
    task: str,
    subwords: Subwords,
    learning_rate: float,
    epochs: int,
    sentences: int | str,
    starts: int,
    root: Root,
    seed: int,
    **settings,
) -> dict:
    """Train the probe `attention` on the heads of each type alone, and on five draws of as many heads of each layer.

    partition: the model's heads with their types; all else as in `probes.measure.train_probes`.

    returns a dictionary for JSON. `types`: by type, `heads`, their number; `right`, the number of words of each scored
      sentence whose head the probe finds, [start][sentence]; and `random`, the same for each draw,
      [draw][sentence]. `words`: the number of words of each sentence that count (`scores.counts`).
      `scored` and `training`: how many sentences are read, and how many left out.
    Raises `InputError` where the partition is not that of a model of this shape.
    """
    if partition.shape != (record.layers, record.heads):
        raise InputError(f"The partition is not one of {record.name}: it has other numbers of layers and heads.")
    training = training if sentences == "all" else training[:sentences]
    run = ModelOnTask(record, task=f"{task}, types", **settings)
    learnt, parsed = (read_sentences(part, run) for part in (training, scored))
    sets = {name: _sets_of_heads(partition, name, starts, seed) for name in partition.types}
    generators = [each for name, of_type in sets.items() for each in generators_of(seed, name, len(of_type))]
    flat = torch.from_numpy(np.concatenate(list(sets.values())).reshape(len(generators), -1))
    probe = AttentionOfSome(torch.cat([flat, flat], 1), generators, learnt.has_special_tokens)
    trainers = {"attention": (run.model, Trainer(probe, learning_rate, root))}
    # It reads no vectors of words.
    parts = ((part, [np.empty((0, 0), np.float32)] * len(part.sentences)) for part in (learnt, parsed))
    found = train_and_parse(trainers, *parts, run, subwords=subwords, epochs=epochs)
    of_sets = iter(found.pop("right")["attention"])
    return {
        "types": {
            name: {
                "heads": int(of_type[0].sum()),
                "right": [next(of_sets) for _ in range(starts)],
                "random": [next(of_sets) for _ in range(len(of_type) - starts)],
            }
            for name, of_type in sets.items()
        },
        **found,
    }


def _sets_of_heads(partition: Partition, name: str, starts: int, seed: int) -> np.ndarray:
    """The heads that each probe of a type reads, [probe, layer, head]: its own for each start, then each draw."""
    own = partition.type_of == name
    rng = np.random.default_rng(derive_seed(seed, "random heads", name))
    return np.stack([own] * starts + [rng.permuted(own, axis=1) for _ in range(_DRAWS)])
