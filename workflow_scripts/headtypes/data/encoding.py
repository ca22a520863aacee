"""Samples, and questions that are answered, as a model reads them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from headtypes.core.errors import InputError
from headtypes.data.kinds.protocol import LANGUAGE_MODEL
from headtypes.data.kinds.registry import KINDS
from headtypes.data.records import Sample
from headtypes.data.targets import decoder_inputs, read_text
from headtypes.data.tokens import separates_texts, token_kinds
from headtypes.data.windows import Windows
from headtypes.models.records import ModelRecord

_NO_ROOM = "sample {}: its question alone fills the model's {} tokens; leave the question out of the data."


@dataclass(frozen=True)
class Encoded:
    """Encoded samples, in the order given; each list has one entry per sample.

    input_ids:   token ids, special tokens included, no padding.
    token_types: segment of each token, or None for a model without segments.
    kinds:       [token] int8 kind of each token, numbered as in `tokens.SPECIAL_KINDS`; 0 for an ordinary one.
    truncated:   [sample] bool, whether the sample was too long and has been cut.
    others:      of a decoder, the tokens of each source, special tokens included. In cross-attention it is these that
        are looked at, and that `kinds` is about.
    """

    input_ids: list[list[int]]
    token_types: list[list[int]] | None
    kinds: list[np.ndarray]
    truncated: np.ndarray
    others: list[list[int]] | None = None

    @property
    def lengths(self) -> list[int]:
        """Tokens of each sample."""
        return [len(ids) for ids in self.input_ids]

    def of_some(self, samples: Sequence[int]) -> "Encoded":
        """Some of the samples, by their indices."""
        ids, types, kinds, others = (
            of and [of[index] for index in samples]
            for of in (self.input_ids, self.token_types, self.kinds, self.others)
        )
        return Encoded(ids, types, kinds, self.truncated[list(samples)], others)


def encode_samples(
    samples: list[Sample],
    tokenizer,
    kind: str,
    max_length: int,
    max_seq_length: int | None = None,
    segment_ids: Literal["pair", "zeros"] = "pair",
    record: ModelRecord | None = None,
) -> Encoded:
    """Encode samples, and let the tokenizer cut those that are longer than the model, or the task, allows.

    kind:           one of `kinds.KINDS`; it determines what is cut: the context but not the question, or the longer
        of two texts; and whether the two texts of a sample become one running text, with an empty line between them,
        where the tokenizer puts no separator between texts (`tokens.separates_texts`).
    max_length:     tokens of the longest input that the model takes.
    max_seq_length: most tokens of a sample, for a kind whose tasks have this key.
    segment_ids:    the tokenizer's, or 0 for all tokens, as in the code of Clark et al. (2019).
    record:         the model, of which a decoder reads the second text of a sample, and its source beside it.
    Raises `InputError` that names a sample which cannot be cut to it, and where a decoder has no second text to read.
    """
    max_length = min(max_length, max_seq_length or max_length)
    if record is not None and record.attention != "encoder":
        return _with_sources(samples, tokenizer, kind, max_length, record)
    if KINDS[kind].has_target:
        samples = [replace(sample, second=None) for sample in samples]
    texts = _texts(samples, joined=KINDS[kind].running and not separates_texts(tokenizer))
    # The tokenizer's own file may specify truncation and padding, so both are always set.
    whole = tokenizer(*texts, truncation=False, padding=False, verbose=False)
    input_ids, token_types = whole["input_ids"], whole.get("token_type_ids")
    truncated = np.array([len(ids) > max_length for ids in input_ids])
    strategy = KINDS[kind].truncation
    for index in np.flatnonzero(truncated):
        text = [part[index] for part in texts]
        try:
            cut = tokenizer(*text, truncation=strategy, max_length=max_length, padding=False)
        except Exception as error:  # The tokenizers library has no specific class for this.
            raise InputError(_NO_ROOM.format(samples[index].id, max_length)) from error
        if len(cut["input_ids"]) > max_length:
            raise InputError(_NO_ROOM.format(samples[index].id, max_length))
        input_ids[index] = cut["input_ids"]
        if token_types is not None:
            token_types[index] = cut["token_type_ids"]
    if token_types is not None and segment_ids == "zeros":
        token_types = [[0] * len(types) for types in token_types]
    kind_of = token_kinds(tokenizer)
    return Encoded(input_ids, token_types, [kind_of[ids] for ids in input_ids], truncated)


def _with_sources(samples: list[Sample], tokenizer, kind: str, max_length: int, record: ModelRecord) -> Encoded:
    """The second text of each sample as a decoder reads it, the first one beside it."""
    if not KINDS[kind].has_target:
        raise InputError(
            f"models.{record.name}: its decoder reads a source and a target, and a task of kind {kind} has none; "
            "name tasks of kind text_to_text, or read the encoder's heads (attention: encoder)."
        )
    sources = encode_samples(samples, tokenizer, kind, max_length)
    targets = [read_text(tokenizer, sample.second, max_length, target=True) for sample in samples]
    ids, kind_of = [decoder_inputs(target.ids, record).tolist() for target in targets], token_kinds(tokenizer)
    kinds = sources.kinds if record.attention == "cross" else [kind_of[of_sample] for of_sample in ids]
    is_cut = sources.truncated | [target.is_cut for target in targets]
    return Encoded(ids, None, kinds, is_cut, sources.input_ids)


def _texts(samples: list[Sample], joined: bool) -> tuple[list[str], ...]:
    """The texts of all samples: the first and the second ones, or one of each."""
    if any(sample.second is None for sample in samples):
        return ([sample.first for sample in samples],)
    if joined:
        return ([f"{sample.first}\n\n{sample.second}" for sample in samples],)
    return [sample.first for sample in samples], [sample.second for sample in samples]


def prepare_windows(
    rows: Sequence,
    tokenizer,
    *,
    kind: str,
    max_length: int,
    max_seq_length: int,
    record: ModelRecord | None = None,
    seed: int | None = None,
    **shape: int,
) -> Windows:
    """Encode a task's rows for a model with a head.

    rows, kind: of a kind that models answer.
    max_length, max_seq_length, shape: as in `Kind.cut_windows`; keys that the kind does not have are ignored.
    record, seed: the model, and the seed of the words that are hidden, for a kind that language models answer.
    """
    shape = {key: value for key, value in shape.items() if key in KINDS[kind].window_keys}
    if KINDS[kind].head == LANGUAGE_MODEL or KINDS[kind].has_target:
        shape |= {"record": record, "seed": seed}
    return KINDS[kind].cut_windows(rows, tokenizer, max_length=max_length, max_seq_length=max_seq_length, **shape)
