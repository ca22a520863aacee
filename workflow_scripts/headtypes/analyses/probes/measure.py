"""Training and scoring of probes: all of them, from all their random starts, in one pass over the maps."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from transformers import PreTrainedModel

from headtypes.analyses.probes.maps import ReadSentences, maps_in_both_directions, read_sentences
from headtypes.analyses.probes.parsers import (
    Attention,
    AttentionAndWords,
    DistanceAndWords,
    ProbedSentence,
    Trainer,
    generators_of,
)
from headtypes.analyses.probes.random_network import random_network
from headtypes.analyses.probes.scores import counts
from headtypes.analyses.probes.vectors import WordVectors, vectors_of_file, vectors_of_model
from headtypes.analyses.words.settings import Root, Subwords
from headtypes.attention.run import ModelOnTask
from headtypes.core.progress import progress
from headtypes.core.seeds import derive_seed
from headtypes.data.kinds.treebank import Sentence
from headtypes.models.records import ModelRecord


def train_probes(
    training: Sequence[Sentence],
    scored: Sequence[Sentence],
    record: ModelRecord,
    *,
    subwords: Subwords,
    vectors: str | None,
    learning_rate: float,
    epochs: int,
    sentences: int | str,
    starts: int,
    root: Root,
    seed: int,
    **settings,
) -> dict:
    """Train probes of a model on the sentences of a treebank, and parse others with them.

    training, scored: sentences that the probes learn from, one step each, in this order; and those they parse.
    subwords, settings: as in `relations.measure.extract_arcs`. Maps are float32.
    vectors: file of word vectors in GloVe's text format; None for the model's own embeddings.
    sentences: how many of the first training sentences are used, or "all".
    starts:  random starts of each probe; root: as in `settings.Root`.

    returns a dictionary for JSON. `right`: of each of `PROBES`, the number of words of each scored sentence whose head
      it finds, [start][sentence]; `words`: the number of words of each that count (`scores.counts`). `scored` and
      `training`: how many sentences are read, and how many left out. `vectors`: how many numbers a vector has, and the
      share of scored words that have one.
    """
    training = training if sentences == "all" else training[:sentences]
    run = ModelOnTask(record, **settings)
    learnt, parsed = (read_sentences(part, run) for part in (training, scored))
    of_learnt, of_parsed = (_vectors(run.model, vectors, part) for part in (learnt, parsed))
    drawn = random_network(run.model, derive_seed(seed, "random_network"))
    maps, channels = 2 * record.layers * record.heads, of_learnt.of_sentences[0].shape[1]
    probes = _probes(maps, channels, learnt.has_special_tokens, starts, root, seed)
    trainers = {name: Trainer(probe, learning_rate, root) for name, probe in probes.items()}
    right = {name: [] for name in trainers}
    passes = 2 * (epochs * len(learnt.sentences) + len(parsed.sentences))
    with progress(passes, run.what, "maps") as bar:

        def maps_of(
            part: ReadSentences, of_words: WordVectors
        ) -> Iterator[tuple[Sentence, ProbedSentence, ProbedSentence]]:
            how = {"subwords": subwords, "batch_tokens": run.batch_tokens, "what": run.what, "bar": bar}
            both = (maps_in_both_directions(network, part.encoded, **how) for network in (run.model, drawn))
            for sentence, own, *read in zip(part.sentences, of_words.of_sentences, *both, strict=True):
                yield sentence, *(ProbedSentence(maps, torch.from_numpy(own)) for maps in read)

        for _ in range(epochs):
            for sentence, trained, untrained in maps_of(learnt, of_learnt):
                heads = torch.tensor(sentence.heads)
                for name, trainer in trainers.items():
                    trainer.train(untrained if name == "random_network" else trained, heads)
        for sentence, trained, untrained in maps_of(parsed, of_parsed):
            heads, counted = torch.tensor(sentence.heads), torch.tensor(counts(sentence))
            for name, trainer in trainers.items():
                guess = trainer.guess(untrained if name == "random_network" else trained)
                right[name].append((guess == heads)[:, counted].sum(1).numpy())
    return {
        "right": {name: np.stack(of_probe, axis=1).tolist() for name, of_probe in right.items()},
        "words": [sum(counts(sentence)) for sentence in parsed.sentences],
        "scored": parsed.numbers,
        "training": learnt.numbers,
        "vectors": {"channels": channels, "known": of_parsed.known},
    }


def _vectors(model: PreTrainedModel, vectors: str | None, part: ReadSentences) -> WordVectors:
    if vectors is None:
        return vectors_of_model(model, part.encoded.encoded.input_ids, part.encoded.word_of_token)
    return vectors_of_file(vectors, [sentence.words for sentence in part.sentences])


def _probes(maps: int, channels: int, has_special_tokens: bool, starts: int, root: Root, seed: int) -> dict:
    def with_words(name: str) -> AttentionAndWords:
        return AttentionAndWords(maps, channels, generators_of(seed, name, starts), has_special_tokens, root)

    return {
        "attention": Attention(maps, generators_of(seed, "attention", starts), has_special_tokens),
        "attention_and_words": with_words("attention_and_words"),
        "distance_and_words": DistanceAndWords(channels, generators_of(seed, "distance_and_words", starts), root),
        "random_network": with_words("random_network"),
    }
