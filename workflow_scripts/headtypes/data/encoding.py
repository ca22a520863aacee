"""Samples, and questions that are answered, as a model reads them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tokenizers import Encoding

from headtypes.core.errors import InputError
from headtypes.data.kinds.registry import KINDS, read_rows
from headtypes.data.records import Sample
from headtypes.data.tokens import separates_texts, token_kinds
from headtypes.data.windows import write_windows
from headtypes.models.fetching import load_tokenizer
from headtypes.models.records import read_model_record

_NO_ROOM = "sample {}: its question alone fills the model's {} tokens; leave the question out of the data."


@dataclass(frozen=True)
class Encoded:
    """Encoded samples, in the order given; each list has one entry per sample.

    input_ids:   token ids, special tokens included, no padding.
    token_types: segment of each token, or None for a model without segments.
    kinds:       [token] int8 kind of each token, numbered as in `tokens.SPECIAL_KINDS`; 0 for an ordinary one.
    truncated:   [sample] bool, whether the sample was too long and has been cut.
    samples, encodings: the samples, and the tokenizer's encodings, which know where a token stands in a text.
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

    def of_some(self, samples: Sequence[int]) -> "Encoded":
        ids, types, kinds = (
            of and [of[index] for index in samples] for of in (self.input_ids, self.token_types, self.kinds)
        )
        known = ([of[index] for index in samples] if of else () for of in (self.samples, self.encodings))
        return Encoded(ids, types, kinds, self.truncated[list(samples)], *known)


def encode_samples(
    samples: list[Sample], tokenizer, kind: str, max_length: int, max_seq_length: int | None = None
) -> Encoded:
    """Encode samples; the tokenizer cuts those that are longer than the model, or the task, allows.

    kind:           one of `registry.KINDS`; it determines which text is cut, and whether the two texts of a sample are
        joined, with an empty line between, where the tokenizer separates no texts (`tokens.separates_texts`).
    max_length, max_seq_length: most tokens that the model takes, and that a sample has, for a kind with this key.
    Raises `InputError` that names a sample which cannot be cut to it.
    """
    max_length = min(max_length, max_seq_length or max_length)
    texts = _texts(samples, joined=KINDS[kind].running and not separates_texts(tokenizer))
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


def _texts(samples: list[Sample], joined: bool) -> tuple[list[str], ...]:
    if any(sample.second is None for sample in samples):
        return ([sample.first for sample in samples],)
    if joined:
        return ([f"{sample.first}\n\n{sample.second}" for sample in samples],)
    return [sample.first for sample in samples], [sample.second for sample in samples]


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    model = read_model_record(inputs.model)
    rows, shape = read_rows(inputs.questions, spec["kind"]), {key: spec[key] for key in spec if key != "kind"}
    windows = KINDS[spec["kind"]].cut_windows(rows, load_tokenizer(model), model, **shape)
    write_windows(outputs.windows, windows, provenance)
