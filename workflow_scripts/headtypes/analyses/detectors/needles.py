"""Texts with needles: random tokens under random keys, of which the end of the text asks for one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64
from transformers import PreTrainedTokenizerFast

from headtypes.analyses.detectors.sequences import as_encoded, frame_of, ordinary_tokens
from headtypes.core.errors import InputError
from headtypes.core.files import StrPath
from headtypes.core.seeds import derive_seed
from headtypes.data.encoding import Encoded
from headtypes.data.kinds.registry import read_rows
from headtypes.data.kinds.text.kind import Text
from headtypes.data.world.tasks import make_text

NEEDLES = 4
_KEY, _VALUE = 2, 5
# Ends of sentences in the generated world.
_SENTENCE = re.compile(r"(?<=[.])\s+")


@dataclass(frozen=True)
class Needles:
    """Texts of one length in which needles stand at random, and whose end repeats one of them, up to its last token.

    A needle says `The secret words of KEY are VALUE.`; keys and values are tokens of the vocabulary, all different.

    encoded: the texts, with the special tokens of a text around each.
    asking:  the tokens after which a token of the value comes next.
    targets: where the needles have this next token. The first needle is the one that is asked for.
    between: where tokens of the sentences between the needles stand, each behind another token.
    """

    encoded: Encoded
    asking: Int64[np.ndarray, " next"]
    targets: Int64[np.ndarray, "text needle next"]
    between: Int64[np.ndarray, "text token"]


def read_texts(paths: Sequence[StrPath]) -> list[str] | None:
    """The documents of tasks of text, for `draw_needles`, None for none; errors as in `data.records.read_records`."""
    return [" ".join(document.paragraphs) for path in paths for document in read_rows(path, Text.name)] or None


def draw_needles(
    tokenizer: PreTrainedTokenizerFast,
    *,
    texts: int,
    context: int,
    max_length: int,
    seed: int,
    model: str,
    documents: Sequence[str] | None = None,
) -> Needles:
    """Plant needles in texts of the generated world, or in others.

    texts, context: how many, and tokens of each, special ones among them.
    max_length: tokens of the longest input that the model takes; model: its name, for messages.
    seed: with the tokenizer, it alone determines the texts; more texts begin with the same ones.
    documents: texts from whose sentences these are made, in random order; None for those of the world.

    Each needle stands at a random place between sentences, and all are drawn alike: a head that does not depend on
    which is asked for gives that one the most attention in a quarter of all texts.
    Raises `InputError` where the needles do not fit into a text, the text into the model, or the vocabulary or the
    documents are too small.
    """
    before, after = frame_of(tokenizer)
    asks, tells, ends = _encoded(tokenizer, [" The secret words of", " are", "."])
    ordinary, number = ordinary_tokens(tokenizer), NEEDLES * (_KEY + _VALUE)
    question = len(asks) + _KEY + len(tells) + _VALUE - 1
    room = context - len(before) - NEEDLES * (question + 1 + len(ends)) - question - len(after)
    # Two others, of which the second stands behind another token.
    if room < 2 or context > max_length:
        raise InputError(
            f"{model}: a text with needles has at least {context - room + 2} tokens, and the longest input "
            f"{max_length}; set detectors.context to a number between them, or to 0."
        )
    if len(ordinary) < number:
        raise InputError(
            f"{model}: needles need {number} different tokens, and the vocabulary has {len(ordinary)}; set "
            "detectors.context to 0."
        )
    input_ids, targets, between = [], [], []
    for text in range(texts):
        generator = np.random.default_rng(derive_seed(seed, "needles", text))
        drawn = generator.choice(ordinary, (NEEDLES, _KEY + _VALUE), replace=False).tolist()
        sentences = _sentences(tokenizer, room, derive_seed(seed, "text", text), documents)
        gaps = generator.integers(0, len(sentences) + 1, NEEDLES)
        ids, starts, others = [*before], np.zeros(NEEDLES, np.int64), []
        for gap in range(len(sentences) + 1):
            for needle in np.flatnonzero(gaps == gap):
                ids += [*asks, *drawn[needle][:_KEY], *tells]
                starts[needle] = len(ids)
                ids += [*drawn[needle][_KEY:], *ends]
            sentence = sentences[gap] if gap < len(sentences) else []
            others += range(len(ids), len(ids) + len(sentence))
            ids += sentence
        input_ids.append([*ids, *asks, *drawn[0][:_KEY], *tells, *drawn[0][_KEY:-1], *after])
        targets.append(starts[:, None] + np.arange(_VALUE))
        between.append(others[1:])
    end = context - len(after)
    return Needles(as_encoded(input_ids, tokenizer), np.arange(end - _VALUE, end), np.stack(targets), np.array(between))


def _encoded(tokenizer: PreTrainedTokenizerFast, texts: list[str]) -> list[list[int]]:
    return tokenizer(texts, add_special_tokens=False, truncation=False, padding=False)["input_ids"]


def _sentences(
    tokenizer: PreTrainedTokenizerFast, room: int, seed: int, documents: Sequence[str] | None
) -> list[list[int]]:
    """Sentences with so many tokens together; of the first one, only the last tokens."""
    found: list[list[int]] = []
    order, count = np.random.default_rng(seed).permutation(len(documents or ())), 1
    while sum(map(len, found)) < room:
        if documents is None:
            # A world with more documents begins with the same ones.
            text = " ".join(passage for document in make_text(seed, "dev", count) for passage in document)
        else:
            text = " ".join(documents[index].strip() for index in order[:count])
        found = _encoded(tokenizer, [f" {sentence}" for sentence in _SENTENCE.split(text)])
        if documents is not None and count >= len(documents) and sum(map(len, found)) < room:
            raise InputError(
                f"Texts with needles have {room} other tokens, and the texts given have {sum(map(len, found))} in all; "
                "give more of them, or a smaller context."
            )
        count *= 2
    kept: list[list[int]] = []
    for sentence in found:
        left = room - sum(map(len, kept))
        kept += [sentence[-left:]] if left else []
    return kept[::-1]
