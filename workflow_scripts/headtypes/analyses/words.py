"""Words that are given already split, encoded for a model, and the attention between words.

Words are joined by single spaces: `[CLS] words [SEP]`. From tokens to words while the model runs (Clark et al. 2019,
section 4.1), attention to a word is the sum, that from a word the mean. With n_v subwords of word v,

    W[v, w] = (1 / n_v) * sum over subwords s of v, sum over subwords t of w, A[s, t],

so that the rows of W sum to one, as rows of A do, or to less. The indices of W are counted as the treebank counts
heads: words from 1, before them index 0 for the special token that begins the input ([CLS]), behind them one more for
the token that ends it ([SEP]). An index without a token, where a tokenizer adds none, has rows and columns of zeros.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headtypes.attention.hook import Batch
from headtypes.attention.reducers import Block, ListPerSample
from headtypes.core.errors import InputError
from headtypes.data.encoding import Encoded


def encode_words(tokenizer, words: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return (input_ids, word_of): words as one input with special tokens, and for each token the index of its word.

    word_of: counted from 0; -1 for special tokens. A word for which the tokenizer has no subword has no token.
    """
    # Each word on its own, as text: some tokenizers refuse words that are already split.
    text, *alone = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in ("a b", "a", "b"))
    mark = "" if text == [subword for word in alone for subword in word] else " "
    subwords = tokenizer([mark + word for word in words], add_special_tokens=False, truncation=False, padding=False)
    before, behind = special_tokens(tokenizer)
    input_ids = [*before, *(subword for word in subwords["input_ids"] for subword in word), *behind]
    word_of = [number for number, word in enumerate(subwords["input_ids"]) for _ in word]
    return input_ids, [*[-1] * len(before), *word_of, *[-1] * len(behind)]


def special_tokens(tokenizer) -> tuple[list[int], list[int]]:
    """Return (before, behind): ids of the special tokens that a tokenizer puts before a text and behind a text."""
    with_ends = tokenizer("a", truncation=False, padding=False)["input_ids"]
    text = tokenizer("a", add_special_tokens=False, truncation=False, padding=False)["input_ids"]
    before = next(start for start in range(len(with_ends)) if with_ends[start : start + len(text)] == text)
    return with_ends[:before], with_ends[before + len(text) :]


class EncodedWords(NamedTuple):
    """The sentences that a model can read, encoded, in the order given.

    kept: [sentence] the index of each readable sentence among all sentences. encoded: the readable sentences.
    word_of_token: for each readable sentence, the index of each token's word, from 0; -1 for special tokens.
    left_out: {reason: number of sentences that were left out for this reason}.
    """

    kept: np.ndarray
    encoded: Encoded
    word_of_token: list[list[int]]
    left_out: dict[str, int]


def encode_sentences(
    sentences: Sequence[Sequence[str]], tokenizer, max_length: int, what: str, whole: bool = True
) -> EncodedWords:
    """Return the sentences (lists of words) encoded; sentences of more tokens than `max_length` are left out.

    whole: whether a sentence with a word for which the tokenizer has no token is left out, too. what: a name of the
        work, for the message of the error. Raises `InputError` if no sentence is left.
    """
    kept, input_ids, word_of_token = [], [], []
    left_out = Counter()
    for number, words in enumerate(sentences):
        ids, word_of = encode_words(tokenizer, words)
        if len(ids) > max_length:
            left_out[f"more than {max_length} tokens"] += 1
        elif whole and len(set(word_of) - {-1}) < len(words):
            left_out["a word for which the tokenizer has no token"] += 1
        else:
            kept.append(number)
            input_ids.append(ids)
            word_of_token.append(word_of)
    if not kept:
        raise InputError(
            f"{what}: none of {len(sentences)} sentences can be read: each has more than {max_length} tokens, or a "
            "word that the tokenizer leaves out."
        )
    no_kinds = [np.zeros(len(ids), np.int8) for ids in input_ids]
    return EncodedWords(
        np.array(kept, dtype=np.int32),
        Encoded(input_ids, None, no_kinds, np.zeros(len(kept), bool)),
        word_of_token,
        left_out,
    )


@dataclass(frozen=True)
class WordRows:
    """Some rows of the attention between words, in one layer and one sample of a batch.

    Rows and columns are numbered alike: 0 is the special tokens before the words, i + 1 is word i, and the last is the
    special tokens behind the words.
    layer: number of the layer, from 0. sample: index of the sample in the batch. start: number of the first row.
    attention: [head, row, column]; a row sums to one, or to less if some attention goes to no token.
    mask: [row, column] whether a subword of the row's word may look at one of the column's word; None if all may.
    """

    layer: int
    sample: int
    start: int
    attention: Float[Tensor, "head row index"]
    mask: Bool[Tensor, "row index"] | None

    @property
    def words(self) -> int:
        return self.attention.shape[-1] - 2


def indices_of(word_of_token: Sequence[int]) -> np.ndarray:
    # [token]: the row of each token's word, counted as in `WordRows`.
    words = np.asarray(word_of_token, dtype=np.int64)
    behind = np.arange(len(words)) > np.argmax(words)
    return np.where(words >= 0, words + 1, np.where(behind, words.max() + 2, 0))


# The matrices that turn a sample's attention between tokens into that between words.
class _Sample:
    def __init__(self, word_of_token: Sequence[int], device: torch.device):
        # [token], and [token, index] of members.
        self.index = indices_of(word_of_token)
        member = np.zeros((len(self.index), max(word_of_token) + 3), np.float32)
        member[np.arange(len(self.index)), self.index] = 1
        weight = member / np.maximum(member.sum(0), 1)
        self.to_word = torch.from_numpy(member).to(device)
        self.from_word = torch.from_numpy(weight.T.astype(np.float32)).contiguous().to(device)


class WordReducer(ListPerSample):
    """A base class of reducers, run with a model, that read the attention between words.

    word_of_token: for each sample the index of each token's word, -1 for special tokens. A subclass has `add_words`,
    which gets `WordRows` (attention of some words to all) until each word of a sample has come once in each layer.
    """

    def __init__(self, word_of_token: Sequence[Sequence[int]]):
        self._word_of_token = word_of_token

    def start(self, batch: Batch) -> None:
        super().start(batch)
        self._samples = [_Sample(self._word_of_token[index], batch.device) for index in batch.samples]
        self._held: tuple[Tensor, Tensor | None] | None = None
        shape = len(batch.samples), self.about.layers, self.about.heads
        self._sums = torch.zeros(shape, device=batch.device)

    def add(self, block: Block) -> None:
        for number in range(block.group.samples.start, block.group.samples.stop):
            rows = self._rows(block, number)
            if rows.attention.shape[1]:
                self._sums[number, block.layer] += rows.attention.sum((1, 2))
                self.add_words(rows)

    def right(self) -> Bool[Tensor, "sample layer head"]:
        return self._sums.isfinite()

    def add_words(self, rows: WordRows) -> None:
        raise NotImplementedError

    def _rows(self, block: Block, number: int) -> WordRows:
        sample, within = self._samples[number], number - block.group.samples.start
        index, tokens = sample.index, block.rows
        first, last = int(index[tokens.start]), int(index[tokens.stop - 1])
        share = sample.from_word[first : last + 1, tokens]
        attention = share @ (block.attention[within] @ sample.to_word)
        mask = None
        if block.mask is not None:
            # A shared mask stands for all samples.
            allowed = block.mask[within if len(block.mask) > 1 else 0, 0].to(share.dtype)
            mask = share @ allowed @ sample.to_word > 0
        if self._held is not None:
            attention[:, 0] += self._held[0]
            if mask is not None:
                mask[0] |= self._held[1]
            self._held = None
        if block.rows.stop < block.group.length and index[tokens.stop] == last:
            self._held = attention[:, -1], None if mask is None else mask[-1]
            attention, mask = attention[:, :-1], None if mask is None else mask[:-1]
        return WordRows(block.layer, number, first, attention, mask)


class WordMaps(WordReducer):
    """A reducer, run with a model, whose result is the attention between the words of each sample.

    The result has an array for each sample, [layer, head, row, column] float32: attention of the row's word (mean over
    its subwords) to the column's word (sum over its subwords). Index 0 is the special tokens before the words, i + 1
    word i, and the last index the special tokens behind the words.
    """

    def start(self, batch: Batch) -> None:
        super().start(batch)
        sizes = [max(self._word_of_token[index]) + 3 for index in batch.samples]
        shape = self.about.layers, self.about.heads
        self._maps = [torch.zeros(*shape, count, count, device=batch.device) for count in sizes]

    def add_words(self, rows: WordRows) -> None:
        self._maps[rows.sample][rows.layer, :, rows.start : rows.start + rows.attention.shape[1]] = rows.attention

    def of_batch(self) -> Iterator[np.ndarray]:
        return (maps.cpu().numpy() for maps in self._maps)
