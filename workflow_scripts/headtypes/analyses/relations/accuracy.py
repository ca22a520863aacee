"""Which head finds which dependency relation (Clark et al. 2019, section 4.2, Table 1), from stored guesses.

`headtypes.papers.clark2019.language.table1` sets the best heads beside the published values.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
import pandas as pd

from headtypes.analyses.relations.guesses import DIRECTIONS, ArcGuesses
from headtypes.analyses.relations.offsets import FILE, TEST, offset_guesses, offsets_up_to
from headtypes.analyses.relations.pairs import TOTALS, Pairs, all_pairs, sentence_of_word
from headtypes.analyses.relations.separators import ToSep, both, columns_of, groups_of
from headtypes.core.errors import InputError
from headtypes.core.statistics import mean_of_known, ratio_intervals
from headtypes.data.kinds.treebank import Sentence

# Relations that are not a row of the table.
_LEFT_OUT = ("root", "punct")
# What stands in the table of best heads, with an interval each, in percent.
QUANTITIES = ("accuracy", "other_accuracy", "offset_accuracy", "above_offset", "forward_above_backward")
HALVES = "halves"


class RelationTables(NamedTuple):
    """Both tables of `measure_relations`."""

    heads: pd.DataFrame
    best: pd.DataFrame


class Choice(NamedTuple):
    """The best heads of some relations, by one way of choosing them, and how they score what is scored.

    rows: of each relation what is chosen and on what, as in the table `best` of `measure_relations`.
    scores: of each row [quantity, pair], in the order of `QUANTITIES`, and behind them whether the right answer is
        visible; what cannot be had is NaN.
    sentences: of each row the sentence of each pair, from 0; units: number of sentences.
    to_sep: of each row, how much the words of the scored sentences look at [SEP] in the best head.
    """

    rows: list[dict]
    scores: list[np.ndarray]
    sentences: list[np.ndarray]
    units: int
    to_sep: list[ToSep]

    def sums(self) -> tuple[np.ndarray, np.ndarray]:
        """The sum over each sentence's pairs and their number, both [sentence, row x quantity]."""
        count = len(QUANTITIES)
        sums, sizes = np.zeros((2, self.units, len(self.scores) * count))
        for number, (scores, sentence) in enumerate(zip(self.scores, self.sentences, strict=True)):
            for index in range(count):
                sums[:, number * count + index] = np.bincount(sentence, np.nan_to_num(scores[index]), self.units)
                sizes[:, number * count + index] = np.bincount(sentence, minlength=self.units)
        return sums, sizes


class Part:
    """A part of a treebank, and what is guessed of it, by heads and by offsets.

    sentence: [word] of each word its sentence, from 0, among the `sentences` that were read; is_odd: [word].
    """

    def __init__(self, sentences: Sequence[Sentence], arcs: ArcGuesses, offsets: Sequence[int]):
        kept = [sentences[index] for index in arcs.sentence]
        if [len(sentence.words) for sentence in kept] != arcs.length.tolist():
            raise InputError("The guesses at syntactic heads are not of these sentences; delete them and run again.")
        self.arcs, self.pairs = arcs, all_pairs(kept)
        self.sentence, self.sentences = sentence_of_word(kept), len(kept)
        self.upos = np.array([tag for sentence in kept for tag in sentence.upos])
        self.is_odd = (arcs.sentence % 2 == 1)[self.sentence]
        self.by_offset = np.stack([offset_guesses(kept, offset) for offset in offsets], axis=1)


class _Fold(NamedTuple):
    """Pairs on which heads are chosen, and those on which the choice is scored; of which words they are, [word]."""

    chosen_on: Part
    choosing: Pairs
    choosing_words: np.ndarray
    scored_on: Part
    scoring: Pairs
    scoring_words: np.ndarray


def measure_relations(
    parts: Mapping[str, Sequence[Sentence]],
    arcs: Mapping[str, ArcGuesses],
    *,
    least: int,
    offsets: int,
    seed: int,
) -> RelationTables:
    """The accuracy of every head at every relation, and the best head of each.

    parts:   the sentences of `file` and, where there is one, of `test`; arcs: the guesses of each.
    least:   words of `file` that a relation must have to be a row; `root` and `punct` never are, and totals always.
    offsets: largest offset of the baseline, in both directions.

    returns two tables; layers and heads count from 0, all accuracies are in percent.
    heads: one row for each relation, part, layer, head and direction (`guesses.DIRECTIONS`): annotation and relation
      as `pairs.all_pairs` names them; words, the number of guesses; accuracy; visible, the number of those whose right
      answer the head can see; visible_accuracy, over these. Where it can see none, both accuracies are NaN: in a causal
      model, a guess at a word that stands later is impossible and not wrong. sentences_above, sentences_below: the
      number of sentences in which it finds more, or fewer, of these words' heads than the offset that finds most.
    best: one row for each relation and way of choosing. chosen and scored: `file` and `file`, as in the paper; and
      `file` and `test` or, without a test file, `halves`: of the sentences of even and of odd index, each is
      scored with what is chosen on the other. words; layer, head and direction of the best head, and its accuracy;
      other_layer, other_head and other_accuracy of the best in the other direction; offset and offset_accuracy of the
      best offset (the head stands so many words behind the dependent); above_offset, the difference;
      forward_above_backward, the best from dependent to head minus the best from head to dependent; visible and
      visible_accuracy of the best head; to_sep and to_sep_others, how much of the attention in it goes to [SEP]
      (`separators.columns_of`). Each of these and of `QUANTITIES` has an interval over sentences, {name}_low and
      {name}_high. Where halves choose differently, layer, head, direction and offset are empty.
    """
    read, tried = read_treebank(parts, arcs, offsets)
    listed = list(listed_relations(read[FILE], least))
    best = [_with_intervals(choice, seed) for choice in _choices(read, listed, tried)]
    rows = [_head_rows(name, part, annotation, row) for name, part in read.items() for annotation, row in listed]
    return RelationTables(pd.concat(rows, ignore_index=True), pd.concat(best, ignore_index=True))


def best_heads(
    parts: Mapping[str, Sequence[Sentence]], arcs: Mapping[str, ArcGuesses], *, least: int, offsets: int
) -> list[Choice]:
    """What stands in the table `best` of `measure_relations`, sentence by sentence, for intervals of other values.

    The arguments are those of `measure_relations`. Of two choices, the first is scored on what it was made on, as in
    the paper, and the second on other sentences.
    """
    read, tried = read_treebank(parts, arcs, offsets)
    return _choices(read, list(listed_relations(read[FILE], least)), tried)


def read_treebank(
    parts: Mapping[str, Sequence[Sentence]], arcs: Mapping[str, ArcGuesses], offsets: int
) -> tuple[dict[str, Part], list[int]]:
    """The parts of a treebank, and the offsets that are tried; the arguments are those of `measure_relations`."""
    tried = offsets_up_to(offsets)
    return {name: Part(parts[name], arcs[name], tried) for name in arcs}, tried


def _choices(read: Mapping[str, Part], listed: list[tuple[str, str]], tried: list[int]) -> list[Choice]:
    paper = _choice(FILE, FILE, _whole(read[FILE], read[FILE]), listed, tried)
    if TEST in read:
        return [paper, _choice(FILE, TEST, _whole(read[FILE], read[TEST]), listed, tried)]
    return [paper, _choice(HALVES, HALVES, _halves(read[FILE]), listed, tried)]


def listed_relations(part: Part, least: int) -> Iterator[tuple[str, str]]:
    """Annotation and name of each row of the tables; least: words that it needs unless it is a total."""
    for annotation, rows in part.pairs.items():
        for relation, pairs in rows.items():
            listed = len(pairs.words) >= least and relation.partition(":")[0] not in _LEFT_OUT
            if listed or relation in TOTALS:
                yield annotation, relation


def _head_rows(name: str, part: Part, annotation: str, relation: str) -> pd.DataFrame:
    pairs = part.pairs[annotation].get(relation, _NONE)
    right, can_be = _right(part, pairs), part.arcs.can_be(pairs.words, pairs.heads)[:, :, None]
    visible = np.broadcast_to(can_be.sum(0), right.shape[1:])
    above = _above_offset(part, pairs, right)
    layer, head, direction = np.indices(right.shape[1:]).reshape(3, -1)
    columns = {
        "annotation": annotation,
        "relation": relation,
        "part": name,
        "words": len(pairs.words),
        "layer": layer,
        "head": head,
        "direction": np.array(DIRECTIONS)[direction],
        "accuracy": np.where(visible > 0, _percent(right.sum(0), len(right)), np.nan).ravel(),
        "visible": visible.ravel(),
        "visible_accuracy": _percent(right.sum(0), visible).ravel(),
        "sentences_above": (above > 0).sum(0).ravel(),
        "sentences_below": (above < 0).sum(0).ravel(),
    }
    return pd.DataFrame(columns)


def _above_offset(part: Part, pairs: Pairs, right: np.ndarray) -> np.ndarray:
    """By how many pairs each head finds more than the best offset, [sentence, layer, head, direction]."""
    if not len(pairs.words):
        return np.zeros((0, *right.shape[1:]), dtype=int)
    by_offset = pairs.right(part.by_offset)
    # Pairs are in the order of sentences.
    _, first = np.unique(part.sentence[pairs.words], return_index=True)
    of_heads, of_offset = (
        np.add.reduceat(of, first, dtype=np.int32) for of in (right, by_offset[:, by_offset.mean(0).argmax()])
    )
    return of_heads - of_offset[:, None, None, None]


def _whole(chosen_on: Part, scored_on: Part):
    def folds(annotation: str, relation: str) -> list[_Fold]:
        scoring = scored_on.pairs[annotation].get(relation, _NONE)
        words, scored = (np.ones(len(part.sentence), dtype=bool) for part in (chosen_on, scored_on))
        return [_Fold(chosen_on, chosen_on.pairs[annotation][relation], words, scored_on, scoring, scored)]

    return folds


def _halves(part: Part):
    def folds(annotation: str, relation: str) -> list[_Fold]:
        pairs = part.pairs[annotation][relation]
        even, odd = ((part, pairs.within(words), words) for words in (~part.is_odd, part.is_odd))
        return [_Fold(*odd, *even), _Fold(*even, *odd)]

    return folds


def _choice(chosen: str, scored: str, folds_of, listed: list[tuple[str, str]], tried: list[int]) -> Choice:
    """The best head of each relation, of those that have words to choose by and words to score."""
    rows, values, sentences, to_sep, units = [], [], [], [], 0
    for annotation, relation in listed:
        folds = folds_of(annotation, relation)
        if all(len(fold.choosing.words) and len(fold.scoring.words) for fold in folds):
            found = [_best_of(fold, tried) for fold in folds]
            names = {name: _agreed([choice[name] for choice, *_ in found]) for name in found[0][0]}
            rows.append({"annotation": annotation, "relation": relation, "chosen": chosen, "scored": scored, **names})
            values.append(np.concatenate([scores for _, scores, _ in found], axis=1))
            to_sep.append(reduce(both, (each for *_, each in found)))
            part = folds[0].scored_on
            sentences.append(np.concatenate([part.sentence[fold.scoring.words] for fold in folds]))
            units = part.sentences
    return Choice(rows, values, sentences, units, to_sep)


def _best_of(fold: _Fold, tried: list[int]) -> tuple[dict, np.ndarray, ToSep]:
    """What is chosen, and how each pair is scored: [quantity, pair], of `QUANTITIES` and then of whether it is visible.

    Behind them stands how much words look at [SEP]. Scores that cannot be had are NaN.
    """
    choosing, scoring = fold.choosing, fold.scoring
    accuracy = _right(fold.chosen_on, choosing).mean(0)
    seen = fold.chosen_on.arcs.can_be(choosing.words, choosing.heads).any(0)
    # What cannot be guessed is not a choice.
    accuracy[~np.broadcast_to(seen[:, None], accuracy.shape)] = -1
    layer, head, direction = np.unravel_index(accuracy.argmax(), accuracy.shape)
    other_layer, other_head = np.unravel_index(accuracy[..., 1 - direction].argmax(), accuracy.shape[:2])
    of_offsets = choosing.right(fold.chosen_on.by_offset).mean(0)
    offset = int(of_offsets.argmax())
    guess = fold.scored_on.arcs.guess[scoring.words]
    best = guess[:, layer, head, direction] == scoring.heads
    other = (guess[:, other_layer, other_head, 1 - direction] == scoring.heads).astype(float)
    by_offset = fold.scored_on.by_offset[scoring.words, offset] == scoring.heads
    none = accuracy[other_layer, other_head, 1 - direction] < 0
    if none:
        other[:] = np.nan
    sign = 1 if direction == 0 else -1
    scores = [best, other, by_offset, best.astype(float) - by_offset, sign * (best - other)]
    visible = fold.scored_on.arcs.can_be(scoring.words, scoring.heads)[:, layer, direction]
    choice = {
        "layer": int(layer),
        "head": int(head),
        "direction": DIRECTIONS[direction],
        "other_layer": None if none else int(other_layer),
        "other_head": None if none else int(other_head),
        "offset": tried[offset],
    }
    to_sep = _to_sep(fold, layer, head, direction, 100 * float(accuracy.max() - of_offsets.max()))
    return choice, np.stack([*scores, visible]).astype(float), to_sep


def _to_sep(fold: _Fold, layer: int, head: int, direction: int, lead: float) -> ToSep:
    part, choosing = fold.scored_on, fold.chosen_on.arcs.to_sep[fold.choosing_words, layer, head].astype(float)
    looks = part.arcs.to_sep[:, layer, head].astype(float)
    words = groups_of(fold.scoring, DIRECTIONS[direction], part.sentence, part.upos) & fold.scoring_words
    # What can see no [SEP] is not counted.
    words &= ~np.isnan(looks)
    sums, sizes = (
        np.stack([np.bincount(part.sentence, weight * group, part.sentences) for group in words], axis=1)
        for weight in (np.nan_to_num(looks), 1)
    )
    return ToSep(sums, sizes, lead, float(mean_of_known(choosing)), direction == 0)


def _with_intervals(choice: Choice, seed: int) -> pd.DataFrame:
    if not choice.rows:
        return pd.DataFrame()
    values, count = choice.scores, len(QUANTITIES)
    low, high = (100 * bound.reshape(-1, count) for bound in ratio_intervals(*choice.sums(), seed=seed))
    table = pd.DataFrame(choice.rows).assign(words=[scores.shape[1] for scores in values])
    for index, name in enumerate(QUANTITIES):
        means = np.array([100 * scores[index].mean() for scores in values])
        table[name] = means
        table[f"{name}_low"] = np.where(np.isnan(means), np.nan, low[:, index])
        table[f"{name}_high"] = np.where(np.isnan(means), np.nan, high[:, index])
    table = table.assign(**columns_of(choice.to_sep, seed))
    table["visible"] = [int(scores[-1].sum()) for scores in values]
    table["visible_accuracy"] = [_percent((scores[0] * scores[-1]).sum(), scores[-1].sum()) for scores in values]
    whole = ["layer", "head", "other_layer", "other_head", "offset"]
    return table.astype(dict.fromkeys(whole, "Int64"))


_NONE = Pairs(np.zeros(0, dtype=int), np.zeros(0, dtype=int))


def _right(part: Part, pairs: Pairs) -> np.ndarray:
    """Whether each guess is right, [pair, layer, head, direction] bool."""
    return pairs.right(part.arcs.guess)


def _percent(count: np.ndarray, of: np.ndarray) -> np.ndarray:
    count, of = np.asarray(count, float), np.asarray(of, float)
    return np.divide(100 * count, of, out=np.full(np.broadcast_shapes(count.shape, of.shape), np.nan), where=of > 0)


def _agreed(values: list):
    return values[0] if len(set(values)) == 1 else None
