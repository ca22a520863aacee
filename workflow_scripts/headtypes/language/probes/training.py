"""Training and scoring of probes: all of them, from all their random starts, in one pass over the maps."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np
import torch
from transformers import PreTrainedModel

from headtypes.attention.one_pass import read_attention
from headtypes.base.progress import progress
from headtypes.base.seeds import derive_seed
from headtypes.language.encoding import EncodedWords, encode_sentences, part_of
from headtypes.language.probes.names import counts
from headtypes.language.probes.parsers import (
    Attention,
    AttentionAndWords,
    DistanceAndWords,
    ProbedSentence,
    Trainer,
    generators_of,
)
from headtypes.language.probes.random_network import random_network
from headtypes.language.probes.vectors import WordVectors, vectors_of_file, vectors_of_model
from headtypes.language.settings import Pieces, Root
from headtypes.language.words import WordMaps
from headtypes.models.fetching import load_tokenizer
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord
from headtypes.tasks.treebank.records import Sentence

# Bytes of maps that are held at once.
_HELD = 2**25


class _Treebank(NamedTuple):
    """Sentences that the model can read, with the vectors of their words."""

    sentences: list[Sentence]
    encoded: EncodedWords
    vectors: list[np.ndarray]


def train_probes(
    training: Sequence[Sentence],
    scored: Sequence[Sentence],
    record: ModelRecord,
    *,
    task: str,
    max_seq_length: int,
    pieces: Pieces,
    precision: str,
    batch_tokens: int,
    vectors: str | None,
    learning_rate: float,
    epochs: int,
    sentences: int | str,
    starts: int,
    root: Root,
    seed: int,
) -> dict:
    """Train probes of a model on the sentences of a treebank, and parse others with them.

    training, scored: sentences that the probes learn from, one step each, in this order; and those they parse.
    record:  the model, as `models.fetching.fetch_model` found it.
    task, max_seq_length, pieces, precision, batch_tokens: as in `arcs.extract_arcs`. Maps are float32.
    vectors: file of word vectors in GloVe's text format; None for the model's own embeddings.
    sentences: how many of the first training sentences are used, or "all".
    starts:  random starts of each probe; root: as in `settings.Root`.

    returns a dictionary for JSON. `right`: of each of `PROBES`, the number of words of each scored sentence whose head
      it finds, [start][sentence]; `words`: the number of words of each that count (`names.counts`). `scored` and
      `training`: how many sentences are read, and how many left out. `vectors`: how many numbers a vector has, and the
      share of scored words that have one.
    """
    training = training if sentences == "all" else training[:sentences]
    tokenizer, model = load_tokenizer(record), load_model(record, precision)
    what, longest = f"{record.name} on {task}", min(max_seq_length, record.max_length)
    read = [encode_sentences([each.words for each in part], tokenizer, longest, what) for part in (training, scored)]
    kept = [[part[index] for index in encoded.kept] for part, encoded in zip((training, scored), read, strict=True)]
    found = [_vectors(model, vectors, *part) for part in zip(kept, read, strict=True)]
    learnt, parsed = (
        _Treebank(sentences, encoded, of_words.of_sentences)
        for sentences, encoded, of_words in zip(kept, read, found, strict=True)
    )
    drawn = random_network(model, derive_seed(seed, "random_network"))
    maps, channels = 2 * record.layers * record.heads, learnt.vectors[0].shape[1]
    trainers = {
        name: Trainer(probe, learning_rate, root)
        for name, probe in _probes(maps, channels, -1 in learnt.encoded.word_of_token[0], starts, root, seed).items()
    }
    right = {name: [] for name in trainers}
    with ExitStack() as opened:
        bar = opened.enter_context(progress(2 * (epochs * len(learnt.sentences) + len(parsed.sentences)), what, "maps"))

        def maps_of(treebank: _Treebank) -> Iterator[tuple[Sentence, ProbedSentence, ProbedSentence]]:
            how = {"pieces": pieces, "batch_tokens": batch_tokens, "what": what, "bar": bar}
            in_order = (_maps_in_order(each, treebank.encoded, **how) for each in (model, drawn))
            for sentence, of_words, *both in zip(treebank.sentences, treebank.vectors, *in_order, strict=True):
                own = torch.from_numpy(of_words)
                yield sentence, *(ProbedSentence(_both_directions(each), own) for each in both)

        for _ in range(epochs):
            for sentence, trained, untrained in maps_of(learnt):
                heads = torch.tensor(sentence.heads)
                for name, trainer in trainers.items():
                    trainer.train(untrained if name == "random_network" else trained, heads)
        for sentence, trained, untrained in maps_of(parsed):
            heads, counted = torch.tensor(sentence.heads), torch.tensor(counts(sentence))
            for name, trainer in trainers.items():
                guess = trainer.guess(untrained if name == "random_network" else trained)
                right[name].append((guess == heads)[:, counted].sum(1).numpy())
    return {
        "right": {name: np.stack(of_probe, axis=1).tolist() for name, of_probe in right.items()},
        "words": [sum(counts(sentence)) for sentence in parsed.sentences],
        "scored": {"read": len(kept[1]), "left_out": len(scored) - len(kept[1])},
        "training": {"read": len(kept[0]), "left_out": len(training) - len(kept[0])},
        "vectors": {"channels": channels, "known": found[1].known},
    }


def _vectors(
    model: PreTrainedModel, vectors: str | None, sentences: list[Sentence], encoded: EncodedWords
) -> WordVectors:
    if vectors is None:
        return vectors_of_model(model, encoded.encoded.input_ids, encoded.word_of_token)
    return vectors_of_file(vectors, [sentence.words for sentence in sentences])


def _probes(maps: int, channels: int, has_special_tokens: bool, starts: int, root: Root, seed: int) -> dict:
    def with_words(name: str) -> AttentionAndWords:
        return AttentionAndWords(maps, channels, generators_of(seed, name, starts), has_special_tokens, root)

    return {
        "attention": Attention(maps, generators_of(seed, "attention", starts), has_special_tokens),
        "attention_and_words": with_words("attention_and_words"),
        "distance_and_words": DistanceAndWords(channels, generators_of(seed, "distance_and_words", starts), root),
        "random_network": with_words("random_network"),
    }


def _maps_in_order(model: PreTrainedModel, encoded: EncodedWords, *, pieces: Pieces, **how) -> Iterator[np.ndarray]:
    """The maps of each sentence, [layer, head, place, place] float32; those of a few sentences are held at a time."""
    heads = model.config.num_hidden_layers * model.config.num_attention_heads
    sizes = np.array([4 * heads * (max(words) + 3) ** 2 for words in encoded.word_of_token])
    starts = np.flatnonzero(np.diff(np.cumsum(sizes) // _HELD, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(sizes)], strict=True):
        part = part_of(encoded, slice(start, stop))
        yield from read_attention(model, part.encoded, [WordMaps(part.word_of_token, pieces)], **how)[0]


def _both_directions(maps: np.ndarray) -> torch.Tensor:
    flat = torch.from_numpy(maps).flatten(0, 1)
    return torch.cat([flat, flat.transpose(1, 2)])
