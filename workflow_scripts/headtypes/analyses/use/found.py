"""Which head finds a dependency relation best, or words by their form, and on which words of other sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from headtypes.analyses.relations.accuracy import Part, listed_relations, read_treebank
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
    """The best head at a relation in one direction, chosen on some sentences, and its guesses on others.

    relation:  a label of the treebank, or one of `SURFACE`, whose words count as dependents of what they look at.
    direction: one of `guesses.DIRECTIONS`, from the word that looks.
    layer, head: from 0; others: the heads of its layer that find the relation least, `_OTHERS` of them or as many as
        find it less than half as often as the head does, where it was chosen.
    offset:    the best one where it was chosen (the syntactic head stands so many words behind the dependent); for
        the previous word, the one at which the head itself looks most often otherwise.
    words:     how many pairs of the relation the other sentences have; below are those that the head can see.
    sentence:  [pair] from 0, among the sentences of the part that were read.
    query, key: [pair] the word that looks and the one that is looked at, from 0 in the sentence.
    right, by_offset: [pair] whether the head finds it; whether the offset does or, for the previous word, whether the
        head looks at the offset instead.
    """

    relation: str
    direction: str
    layer: int
    head: int
    others: tuple[int, ...]
    offset: int
    words: int
    sentence: Int[np.ndarray, " pair"]
    query: Int[np.ndarray, " pair"]
    key: Int[np.ndarray, " pair"]
    right: Bool[np.ndarray, " pair"]
    by_offset: Bool[np.ndarray, " pair"]


def find_heads(
    parts: Mapping[str, Sequence[Sentence]], arcs: Mapping[str, ArcGuesses], *, least: int, offsets: int
) -> Iterator[Found]:
    """The best head of each relation in each direction, and of each of `SURFACE`.

    Heads and offsets are chosen on `file` and scored on `test`; without such a part, they are chosen on the sentences
    of even index and scored on those of odd index. They are chosen by the pairs that some layer can see, of which there
    must be `least` in `file`.
    The arguments are those of `accuracy.measure_relations`; relations that name several together are left out.
    """
    read, tried = read_treebank(parts, arcs, offsets)
    file, scored = read[FILE], read.get(TEST, read[FILE])
    pairs = {name: _pairs(parts[name], part, least if name == FILE else 1) for name, part in read.items()}
    for relation, whole in pairs[FILE].items():
        if TEST in read:
            choosing, scoring = whole, pairs[TEST].get(relation)
        else:
            choosing, scoring = whole.within(~file.is_odd), whole.within(file.is_odd)
        for direction in range(1 if relation in SURFACE else len(DIRECTIONS)):
            if len(_seen(file, whole, direction).words) >= least and scoring is not None:
                yield from _best(relation, direction, (file, choosing), (scored, scoring), tried)


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
        last: dict[str, int] = {}
        for number, word in enumerate(map(str.lower, sentences[index].words), start=1):
            earlier = last.get(word, 0)
            for name, seen in zip(SURFACE, (number - 1, earlier, earlier and earlier + 1), strict=True):
                if 0 < seen < number:
                    rows[name].append((before + number - 1, seen))
            last[word] = number
        before += len(sentences[index].words)
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
    layer, head = map(int, np.unravel_index(accuracy.argmax(), accuracy.shape))
    least = np.argsort(accuracy[layer], kind="stable")[:_OTHERS]
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
        *(relation, DIRECTIONS[direction], layer, head),
        others=tuple(int(other) for other in least if accuracy[layer, other] < accuracy[layer, head] / 2),
        offset=tried[best],
        words=len(all_pairs.words),
        sentence=sentence,
        query=query,
        key=key,
        right=right,
        by_offset=baseline == (guess[:, direction] if relation == PREVIOUS else pairs.heads),
    )
