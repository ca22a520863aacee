"""Which head finds a relation of words best, and on which words of other texts: of a treebank, or those alike."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Int

from headtypes.analyses.relations.choice import Part, listed_relations, read_treebank
from headtypes.analyses.relations.guesses import DIRECTIONS, ArcGuesses
from headtypes.analyses.relations.offsets import FILE, TEST
from headtypes.analyses.relations.pairs import TOTALS, Pairs
from headtypes.data.kinds.treebank import Sentence

# What a word looks at besides: the word before it, the last one that is the same, and the one behind that.
PREVIOUS = "previous word"
SURFACE = (PREVIOUS, "repeated word", "behind a repeated word")
# More of them would say more of each layer, and take longer.
_OTHERS = 2


@dataclass(frozen=True)
class Found:
    """The best head at a relation in one direction, chosen on some texts, and its guesses on others.

    relation:  a label of the treebank, one of `SURFACE`, whose words count as dependents of what they look at, or one
        of `antecedents.find_antecedents`.
    direction: one of `guesses.DIRECTIONS`, from the word that looks.
    layer, head: from 0; shape: how many the model has; others: the heads of its layer that find the relation least,
        `_OTHERS` of them or as many as find it less than half as often as the head does, where it was chosen.
    offset:    the best one where it was chosen (the syntactic head stands so many words behind the dependent); for
        the previous word, the one at which the head itself looks most often otherwise. None for an antecedent.
    words:     how many words of the other texts look at something; below are those that the head can see.
    text, unit: [word] among the texts that were read, from 0 (sentences, or parts of documents), and what intervals are
        over: the sentence, or the document of the part.
    query, keys: [word] the word that looks and those that are to be looked at, from 0 in the text.
    right, by_offset: [word] whether the head finds one of them; whether the offset does (of an antecedent, the nearest
        mention) or, for the previous word, whether the head looks at the offset instead.
    """

    relation: str
    direction: str
    layer: int
    head: int
    shape: tuple[int, int]
    others: tuple[int, ...]
    offset: int | None
    words: int
    text: Int[np.ndarray, " word"]
    unit: Int[np.ndarray, " word"]
    query: Int[np.ndarray, " word"]
    keys: Sequence[Sequence[int]]
    right: Bool[np.ndarray, " word"]
    by_offset: Bool[np.ndarray, " word"]

    @property
    def pairs(self) -> pd.DataFrame:
        """Text, query and key of each pair, with the number of the word as index."""
        return pd.DataFrame({"text": self.text, "query": self.query, "key": list(self.keys)}).explode("key").astype(int)


class Texts(NamedTuple):
    """The texts of words that look.

    words: of each text, from 0; in those of a task, tokens, None for one that counts as no word.
    visible: [word of all texts, layer, 2] the first and the last word of its text that each can look at, from 1; -1 for
        none. A single layer stands for all.
    """

    words: Sequence[Sequence[Hashable]]
    visible: Int[np.ndarray, "word layer 2"]


def all_visible(words: Sequence[Sequence[Hashable]]) -> Texts:
    """Texts of which every word can look at all of its text."""
    ends = [(1, len(of_text)) for of_text in words for _ in of_text]
    return Texts(words, np.array(ends, int).reshape(-1, 1, 2))


def find_heads(
    parts: Mapping[str, Sequence[Sentence]],
    arcs: Mapping[str, ArcGuesses],
    *,
    least: int,
    offsets: int,
    surface: bool = False,
) -> tuple[list[Found], Texts]:
    """The best head of each relation in each direction, and of each of `SURFACE`; and the sentences of their words.

    Heads and offsets are chosen on `file` and scored on `test`; without such a part, they are chosen on the sentences
    of even index and scored on those of odd index. They are chosen by the pairs that some layer can see, of which there
    must be `least` in `file`.
    The arguments are those of `accuracy.measure_relations`; relations that name several together are left out.
    surface: only those of `SURFACE`.
    """
    read, tried = read_treebank(parts, arcs, offsets)
    name = TEST if TEST in read else FILE
    file, scored = read[FILE], read[name]
    pairs = {each: _pairs(parts[each], part, least if each == FILE else 1) for each, part in read.items()}
    found = []
    for relation, whole in pairs[FILE].items():
        if surface and relation not in SURFACE:
            continue
        if TEST in read:
            choosing, scoring = whole, pairs[TEST].get(relation)
        else:
            choosing, scoring = whole.within(~file.is_odd), whole.within(file.is_odd)
        for direction in range(1 if relation in SURFACE else len(DIRECTIONS)):
            if len(_seen(file, whole, direction).words) >= least and scoring is not None:
                found += _best(relation, direction, (file, choosing), (scored, scoring), tried)
    words = [parts[name][index].words for index in scored.arcs.sentence]
    return found, Texts(words, scored.arcs.visible[:, :, DIRECTIONS.index("dependent_to_head")])


def surface_pairs(words: Sequence[Hashable]) -> dict[str, list[tuple[int, int]]]:
    """For each of `SURFACE` the words that look and what they look at, from 0; None is no word."""
    rows: dict[str, list[tuple[int, int]]] = {name: [] for name in SURFACE}
    last: dict[Hashable, int] = {}
    for number, word in enumerate(words):
        if word is not None:
            earlier = last.get(word, -1)
            for name, seen in zip(SURFACE, (number - 1, earlier, earlier + 1 if earlier >= 0 else -1), strict=True):
                if 0 <= seen < number and words[seen] is not None:
                    rows[name].append((number, seen))
            last[word] = number
    return rows


def choice(accuracy: Float[np.ndarray, "layer head"]) -> tuple[int, int, tuple[int, ...]]:
    """The best head, and the `others` of its layer, as `Found` has them."""
    layer, head = map(int, np.unravel_index(accuracy.argmax(), accuracy.shape))
    least = np.argsort(accuracy[layer], kind="stable")[:_OTHERS]
    return layer, head, tuple(int(other) for other in least if accuracy[layer, other] < accuracy[layer, head] / 2)


def _pairs(sentences: Sequence[Sentence], part: Part, least: int) -> dict[str, Pairs]:
    """The relations of a part by name; least: words that one of the treebank needs."""
    labels = {
        relation
        for annotation, relation in listed_relations(part, least)
        if annotation == "universal" and relation not in TOTALS and not relation.endswith(":*")
    }
    found = {relation: pairs for relation, pairs in part.pairs["universal"].items() if relation in labels}
    rows: dict[str, list[tuple[int, int]]] = {name: [] for name in SURFACE}
    before = 0
    for index in part.arcs.sentence:
        words = list(map(str.lower, sentences[index].words))
        for name, of_name in surface_pairs(words).items():
            rows[name] += [(before + query, key + 1) for query, key in of_name]
        before += len(words)
    return found | {name: Pairs(*np.array(of_name, int).reshape(-1, 2).T) for name, of_name in rows.items()}


def _seen(part: Part, pairs: Pairs, direction: int, layer: int | None = None) -> Pairs:
    """The pairs that a layer, or some layer, can see."""
    seen = part.arcs.can_be(pairs.words, pairs.heads)[..., direction]
    chosen = seen.any(1) if layer is None else seen[:, layer]
    return Pairs(pairs.words[chosen], pairs.heads[chosen])


def _best(
    relation: str, direction: int, chosen_on: tuple[Part, Pairs], scored_on: tuple[Part, Pairs], tried: list[int]
) -> Iterator[Found]:
    file, choosing = chosen_on[0], _seen(*chosen_on, direction)
    part, all_pairs = scored_on
    guess = file.arcs.guess[..., direction]
    if not len(choosing.words):
        return
    accuracy = choosing.right(guess).mean(0)
    layer, head, others = choice(accuracy)
    # Of each offset, and each head of the layer where these differ.
    if relation == PREVIOUS:
        by_offset = file.by_offset[choosing.words, :, None] == guess[choosing.words, None, layer]
        by_offset[:, tried.index(-1)] = False
    else:
        by_offset = np.broadcast_to(choosing.right(file.by_offset)[..., None], (*choosing.words.shape, len(tried), 1))
    rates = by_offset.mean(0)
    best = int(np.broadcast_to(rates, (len(tried), accuracy.shape[1]))[:, head].argmax())
    pairs = _seen(part, all_pairs, direction, layer)
    if not len(pairs.words):
        return
    right, guess = pairs.right(part.arcs.guess[:, layer, head, direction]), part.arcs.guess[pairs.words, layer, head]
    baseline = part.by_offset[pairs.words, best]
    starts = np.cumsum(part.arcs.length) - part.arcs.length
    sentence = part.sentence[pairs.words]
    ends = pairs.words - starts[sentence], pairs.heads - 1
    query, key = ends if direction == 0 else ends[::-1]
    yield Found(
        *(relation, DIRECTIONS[direction], layer, head, accuracy.shape, others),
        offset=tried[best],
        words=len(all_pairs.words),
        text=sentence,
        unit=sentence,
        query=query,
        keys=key[:, None],
        right=right,
        by_offset=baseline == (guess[:, direction] if relation == PREVIOUS else pairs.heads),
    )
