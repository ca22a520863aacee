"""Word vectors: from a file in GloVe's text format, or the model's own embeddings where no file is at hand."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from transformers import PreTrainedModel

from headtypes.core.errors import InputError
from headtypes.models.placement import at_hand

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)


class WordVectors(NamedTuple):
    """The vectors of the words of some sentences.

    of_sentences: of each sentence, [word, channel] float32; zeros for a word that is not known.
    known:        share of all words, each as often as it stands there, that are known.
    """

    of_sentences: list[np.ndarray]
    known: float


def read_vectors(path: str, words: Iterable[str]) -> dict[str, np.ndarray]:
    """Read the vectors of some words: a word and its numbers on each line, separated by single spaces.

    words: in lower case, as the files of GloVe have them. Some of the larger files' words contain spaces. Lines may end
    in spaces, as those of fastText do.
    returns the vectors of those words that the file has.
    Raises `InputError` that names the file and a line with more or fewer numbers than the first, a header as word2vec
        and fastText write it, or a word that stands there twice, with different numbers.
    """
    wanted, vectors, width = set(words), {}, None
    try:
        # Some editors write a byte-order mark, which is not part of the first word.
        with open(path, encoding="utf-8-sig", newline="\n") as lines:
            for number, line in enumerate(map(str.rstrip, lines), start=1):
                if width is None:
                    if re.fullmatch(r"\d+ \d+", line):
                        raise InputError(f"{path}, line 1: {line!r} is a header of word2vec or fastText; remove it.")
                    width = line.count(" ")
                word, *numbers = line.rsplit(" ", width)
                # A word with spaces that ends in a number is that of a line with more numbers.
                _, space, last = word.rpartition(" ")
                if len(numbers) != width or not width or not word or (space and _NUMBER.fullmatch(last)):
                    raise InputError(
                        f"{path}, line {number}: a word and {width or 'its'} numbers are needed, as many as on line 1 "
                        "and separated by single spaces, as in the files of GloVe."
                    )
                if word in wanted:
                    vector = _numbers(numbers, path, number)
                    if not np.array_equal(vectors.setdefault(word, vector), vector):
                        raise InputError(f"{path}, line {number}: the word {word!r} has other numbers on another line.")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as word vectors ({error}).") from error
    return vectors


def vectors_of_file(path: str, sentences: Sequence[Sequence[str]]) -> WordVectors:
    """The vectors of words, in lower case, from a file in GloVe's text format.

    Raises `InputError` as `read_vectors` does, and where the file has none of the words.
    """
    lower = [[word.lower() for word in words] for words in sentences]
    vectors = read_vectors(path, {word for words in lower for word in words})
    if not vectors:
        raise InputError(
            f"{path} has no vector of any word of these sentences; name a file of their language, whose words are in "
            "lower case."
        )
    known = [word in vectors for words in lower for word in words]
    unknown = np.zeros_like(next(iter(vectors.values())))
    of_sentences = [np.stack([vectors.get(word, unknown) for word in words]) for words in lower]
    return WordVectors(of_sentences, float(np.mean(known)))


def vectors_of_model(
    model: PreTrainedModel, input_ids: Sequence[Sequence[int]], word_of_token: Sequence[Sequence[int]]
) -> WordVectors:
    """The mean of the model's input embeddings of each word's subwords, before positions are added; all are known."""
    module = model.get_input_embeddings()
    with at_hand(module):
        weight = module.weight.detach()
    of_sentences = []
    for ids, words in zip(input_ids, word_of_token, strict=True):
        word = torch.tensor(words)
        own = weight[torch.tensor(ids)[word >= 0].to(weight.device)].float().cpu()
        total = torch.zeros(max(words) + 1, own.shape[1]).index_add_(0, word[word >= 0], own)
        of_sentences.append((total / torch.bincount(word[word >= 0])[:, None]).numpy())
    return WordVectors(of_sentences, 1.0)


def _numbers(numbers: list[str], path: str, line: int) -> np.ndarray:
    try:
        vector = np.array(numbers, dtype=np.float32)
    except ValueError as error:
        raise InputError(f"{path}, line {line}: {error}.") from error
    if not np.isfinite(vector).all():
        raise InputError(f"{path}, line {line} holds a number that is not finite.")
    return vector
