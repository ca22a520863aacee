"""Words that are given already split, as a model reads them: `[CLS] words [SEP]`, joined by single spaces."""

from collections.abc import Sequence


def encode_words(tokenizer, words: Sequence[str]) -> tuple[list[int], list[int]]:
    """The tokens of some words, and which word each token is a piece of.

    returns input_ids, with the special tokens that the tokenizer adds to a text; and [token] the word, from 0, or -1
        for a special token. A word for which the tokenizer has no piece is that of no token.
    """
    # Each word on its own, as text: some tokenizers refuse words that are already split.
    mark = " " if _needs_space(tokenizer) else ""
    pieces = tokenizer([mark + word for word in words], add_special_tokens=False, truncation=False, padding=False)
    before, behind = special_tokens(tokenizer)
    input_ids = [*before, *(piece for of_word in pieces["input_ids"] for piece in of_word), *behind]
    word_of = [number for number, of_word in enumerate(pieces["input_ids"]) for _ in of_word]
    return input_ids, [*[-1] * len(before), *word_of, *[-1] * len(behind)]


def special_tokens(tokenizer) -> tuple[list[int], list[int]]:
    """The special tokens that a tokenizer puts before a text, and those that it puts behind."""
    with_ends = tokenizer("a", truncation=False, padding=False)["input_ids"]
    text = tokenizer("a", add_special_tokens=False, truncation=False, padding=False)["input_ids"]
    before = next(start for start in range(len(with_ends)) if with_ends[start : start + len(text)] == text)
    return with_ends[:before], with_ends[before + len(text) :]


def _needs_space(tokenizer) -> bool:
    """Whether words have the pieces that they have in a text only if a space stands before them (byte-level ones)."""
    text, *alone = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in ("a b", "a", "b"))
    return text != [piece for of_word in alone for piece in of_word]
