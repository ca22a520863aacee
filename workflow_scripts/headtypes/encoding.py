"""Samples as a model reads them: token ids, types of the segments, and kinds of the special tokens."""

from dataclasses import dataclass

import numpy as np

from headtypes.columns import SPECIAL_KINDS
from headtypes.errors import InputError

# Marks by which tokenizers show that a token begins a word, or does not.
_BOUNDARY_MARKS = ("##", "Ġ", "▁")
_NO_ROOM = "sample {}: its question alone fills the model's {} tokens; leave the question out of the data."


@dataclass(frozen=True)
class Encoded:
    """Encoded samples, in the order given; each list has one entry per sample.

    input_ids:   token ids, special tokens included, no padding.
    token_types: segment of each token, or None for a model without segments.
    kinds:       [token] int8 kind of each token, as `columns.SPECIAL_KINDS` counts them; 0 for an ordinary one.
    truncated:   [sample] bool, whether the sample was longer than the limit.
    """

    input_ids: list[list[int]]
    token_types: list[list[int]] | None
    kinds: list[np.ndarray]
    truncated: np.ndarray

    @property
    def lengths(self) -> list[int]:
        """Tokens of each sample."""
        return [len(ids) for ids in self.input_ids]


def encode_samples(samples: list[dict], tokenizer, kind: str, limit: int) -> Encoded:
    """Encode samples, cut to the model's limit as the tokenizer cuts them.

    samples: id, first and second (or None), as drawn.
    kind:    question_answering cuts the context and never the question; sentence_pair the longer sentence.
    limit:   tokens of the longest input that the model takes.
    Raises `InputError` that names a sample which cannot be cut to the limit.
    """
    first = [sample["first"] for sample in samples]
    second = [sample["second"] for sample in samples]
    texts = (first, second) if all(text is not None for text in second) else (first,)
    # The tokenizer's own file may carry a truncation and a padding, so both are always set.
    whole = tokenizer(*texts, truncation=False, padding=False, verbose=False)
    input_ids, token_types = whole["input_ids"], whole.get("token_type_ids")
    truncated = np.array([len(ids) > limit for ids in input_ids])
    strategy = "only_second" if kind == "question_answering" else "longest_first"
    for index in np.flatnonzero(truncated):
        text = [part[index] for part in texts]
        try:
            cut = tokenizer(*text, truncation=strategy, max_length=limit, padding=False)
        except Exception as error:  # The tokenizers library has no class of its own for this.
            raise InputError(_NO_ROOM.format(samples[index]["id"], limit)) from error
        if len(cut["input_ids"]) > limit:
            raise InputError(_NO_ROOM.format(samples[index]["id"], limit))
        input_ids[index] = cut["input_ids"]
        if token_types is not None:
            token_types[index] = cut["token_type_ids"]
    kind_of = token_kinds(tokenizer)
    return Encoded(input_ids, token_types, [kind_of[ids] for ids in input_ids], truncated)


def token_kinds(tokenizer) -> np.ndarray:
    """The kind of every token of the vocabulary: [token id] int8, 0 or a number of `SPECIAL_KINDS` from 1.

    `[CLS]` and `[SEP]` are the tokenizer's cls_token and sep_token; where it has none, its bos_token and eos_token if
    it adds them to a text; a token that is both counts as `[CLS]`. Comma and period are the tokens whose surface,
    without a word-boundary mark, is that character.
    """
    vocabulary = tokenizer.get_vocab()
    kinds = np.zeros(max(vocabulary.values()) + 1, dtype=np.int8)
    number = {name: index for index, name in enumerate(SPECIAL_KINDS, start=1)}
    for token, token_id in vocabulary.items():
        surface = _without_mark(token)
        if surface in (",", "."):
            kinds[token_id] = number["comma" if surface == "," else "period"]
    added = {token for texts in (("a",), ("a", "b")) for token in tokenizer(*texts)["input_ids"]}
    for name, token, instead in (
        ("sep", tokenizer.sep_token_id, tokenizer.eos_token_id),
        ("cls", tokenizer.cls_token_id, tokenizer.bos_token_id),
    ):
        if token is not None:
            kinds[token] = number[name]
        elif instead in added:
            kinds[instead] = number[name]
    return kinds


def _without_mark(token: str) -> str:
    for mark in _BOUNDARY_MARKS:
        if token.startswith(mark):
            return token.removeprefix(mark)
    return token
