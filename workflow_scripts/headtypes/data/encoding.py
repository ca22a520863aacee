"""Samples: drawn from the rows of a task, encoded as a model reads them, with the kind of each token; masked words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from headtypes.core.errors import InputError
from headtypes.core.files import read_json_lines, write_json_lines
from headtypes.data.tasks import KINDS, Sample, read_rows, write_records
from headtypes.models.records import added_tokens

if TYPE_CHECKING:
    from tokenizers import Encoding


def sample_inputs(rows: Sequence, *, kind: str, samples: int, seed: int) -> list[Sample]:
    return KINDS[kind].draw_samples(rows, lambda inputs: _draw(inputs, samples, seed))


def sample_questions(rows: list, *, questions: int | str, seed: int | None) -> list:
    """Return at most `questions` random rows, in the order of `rows`; all rows for "all", which needs no seed."""
    return rows if questions == "all" else [rows[index] for index in _draw(len(rows), questions, seed)]


def _draw(inputs: int, wanted: int, seed: int) -> np.ndarray:
    return np.sort(np.random.default_rng(seed).permutation(inputs)[:wanted])


def run_inputs(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    write_records(outputs.samples, sample_inputs(read_rows(inputs.rows, spec["kind"]), **spec))


def run_questions(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    write_json_lines(outputs.questions, sample_questions(read_json_lines(inputs.rows), **spec))


# The kind of a token is its position here, counted from 1, and 0 for an ordinary token.
SPECIAL_KINDS = ("cls", "sep", "comma", "period")
# By these marks, tokenizers show whether a token begins a word.
_BOUNDARY_MARK = re.compile("^(##|Ġ|▁)")


def token_kinds(tokenizer) -> np.ndarray:
    """Return the kind of each token of the vocabulary, [token id] int8: 1 cls, 2 sep, 3 comma, 4 period, 0 other.

    The tokenizer's cls_token is cls, and its sep_token sep. Without a cls_token, a bos_token that the tokenizer adds to
    texts is cls. Without a sep_token, an eos_token that the tokenizer adds to texts is sep. A comma or period is a
    token of this character alone, or with the mark of a word's beginning.
    """
    vocabulary = tokenizer.get_vocab()
    kinds = np.zeros(max(vocabulary.values()) + 1, dtype=np.int8)
    number = {name: index for index, name in enumerate(SPECIAL_KINDS, start=1)}
    for token, token_id in vocabulary.items():
        surface = _BOUNDARY_MARK.sub("", token)
        if surface in (",", "."):
            kinds[token_id] = number["comma" if surface == "," else "period"]
    added = added_tokens(tokenizer)
    for name, token, instead in (  # cls comes last: a token that is both is cls
        ("sep", tokenizer.sep_token_id, tokenizer.eos_token_id),
        ("cls", tokenizer.cls_token_id, tokenizer.bos_token_id),
    ):
        if token is not None:
            kinds[token] = number[name]
        elif instead in added:
            kinds[instead] = number[name]
    return kinds


def separates_texts(tokenizer) -> bool:
    """Return whether a tokenizer puts a token of the kind sep (`token_kinds`) between the two texts of a pair."""
    encoded = tokenizer("a", "b")
    texts = encoded.sequence_ids(0)
    if not {0, 1} <= set(texts):
        return False
    between = encoded["input_ids"][texts.index(0) : texts.index(1)]
    return bool((token_kinds(tokenizer)[between] == 1 + SPECIAL_KINDS.index("sep")).any())


# The share of the ordinary tokens that is drawn; the shares of these that become the mask token, and any token.
_DRAWN, _MASKED, _REPLACED = 0.15, 0.8, 0.1


class Masked(NamedTuple):
    """An input after masking: token ids; positions (rising) of the tokens drawn to be predicted; their original ids."""

    input_ids: np.ndarray
    indices: np.ndarray
    targets: np.ndarray


def mask_words(
    input_ids: Sequence[int], ordinary: np.ndarray, mask_token: int, vocabulary: np.ndarray, seed: int
) -> Masked:
    """Return an input in which 15 % of the ordinary tokens are drawn and masked (Devlin et al. 2019, section 3.1).

    At least one token is drawn if any is ordinary. A drawn token becomes `mask_token` (with probability 0.8) or any
    token of `vocabulary` (0.1), or stays (0.1). ordinary: [token] bool, true for a token that can be drawn.
    """
    rng = np.random.default_rng(seed)
    indices, ids = np.flatnonzero(ordinary), np.array(input_ids, dtype=np.int64)
    drawn = np.sort(rng.permutation(indices)[: max(1, round(_DRAWN * len(indices)))])
    what, replaced = rng.random(len(drawn)), rng.choice(vocabulary, len(drawn))
    targets = ids[drawn]
    hidden = np.where(what < _MASKED + _REPLACED, replaced, targets)
    ids[drawn] = np.where(what < _MASKED, mask_token, hidden)
    return Masked(ids, drawn, targets)


# Between two texts that are read as one.
BETWEEN = "\n\n"
_NO_ROOM = "sample {}: its question alone fills the model's {} tokens; leave the question out of the data."


@dataclass(frozen=True)
class Encoded:
    """Samples of a task as token ids, with special tokens and without padding; fields have one entry for each sample.

    token_types: segment of each token, 0 or 1; None for a model without segments.
    kinds: [token] int8, the kind of each token: 1 cls, 2 sep, 3 comma, 4 period, 0 other.
    truncated: [sample] bool, true for a sample that was too long and has been cut.
    encodings: the tokenizer's own objects, which know the position of each token in its text.
    """

    input_ids: list[list[int]]
    token_types: list[list[int]] | None
    kinds: list[np.ndarray]
    truncated: np.ndarray
    samples: Sequence[Sample] = ()
    encodings: Sequence[Encoding] = ()

    @property
    def lengths(self) -> list[int]:
        return [len(ids) for ids in self.input_ids]

    def selected(self, samples: Sequence[int]) -> Encoded:
        def some(entries: Sequence | None) -> list | None:
            return entries and [entries[index] for index in samples]

        lists = map(some, (self.input_ids, self.token_types, self.kinds))
        return Encoded(*lists, self.truncated[list(samples)], some(self.samples), some(self.encodings))


def encode_samples(samples: list[Sample], tokenizer, kind: str, max_length: int) -> Encoded:
    """Return samples encoded by a tokenizer, cut to `max_length` tokens; `InputError` if a question alone is longer.

    kind: kind of task: in `question_answering` the second text, the context, is cut, in others the longer text. In
        `text`, both are joined into one by an empty line if the tokenizer puts no `[SEP]` between them.
    """
    texts = [[sample.first for sample in samples], [sample.second for sample in samples]]
    if None in texts[1]:
        texts = texts[:1]
    elif KINDS[kind].running and not separates_texts(tokenizer):
        texts = [list(map(BETWEEN.join, zip(*texts, strict=True)))]
    # The tokenizer's own file may specify truncation and padding, so both are always set.
    whole = tokenizer(*texts, truncation=False, padding=False, verbose=False)
    input_ids, token_types = whole["input_ids"], whole.get("token_type_ids")
    truncated, encodings = np.array([len(ids) > max_length for ids in input_ids]), list(whole.encodings)
    strategy = KINDS[kind].truncation
    for index in np.flatnonzero(truncated):
        text = [part[index] for part in texts]
        try:
            cut = tokenizer(*text, truncation=strategy, max_length=max_length, padding=False)
        except Exception as error:  # The tokenizers library has no specific class for this.
            raise InputError(_NO_ROOM.format(samples[index].id, max_length)) from error
        if len(cut["input_ids"]) > max_length:
            raise InputError(_NO_ROOM.format(samples[index].id, max_length))
        input_ids[index], encodings[index] = cut["input_ids"], cut.encodings[0]
        if token_types is not None:
            token_types[index] = cut["token_type_ids"]
    kind_of = token_kinds(tokenizer)
    return Encoded(input_ids, token_types, [kind_of[ids] for ids in input_ids], truncated, samples, encodings)
