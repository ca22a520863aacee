"""Which head finds which dependency relation (Clark et al. 2019, section 4.2, Table 1), from stored guesses.

Heads are chosen on some words and scored on others; `headtypes.papers.clark2019.tables` sets the best beside
the published values. By section 3.2, a head looks at `[SEP]` where it is not called for. It is called for by the words
that look at the other word of the relation: the dependents, if it is the best from dependent to head, and else the
words that they depend on.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from headtypes.analyses.relations.guesses import DIRECTIONS, ArcGuesses, read_parts
from headtypes.analyses.relations.pairs import (
    FILE,
    OFFSETS,
    TEST,
    TOTALS,
    Pairs,
    all_offset_guesses,
    all_pairs,
    sentence_of_word,
)
from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import read_groups
from headtypes.core.statistics import ratio_intervals
from headtypes.core.table_files import table_reader, write_csv
from headtypes.data.kinds.treebank import Sentence

# Groups of words: those that call for the head, all others; by UPOS those that are no nouns, and no pronouns either.
GROUPS = ("called", "others", "no_noun", "no_noun_or_pronoun")
_NOUNS, _PRONOUN = ("NOUN", "PROPN"), "PRON"


class OfHeads(NamedTuple):
    """How well all heads find a relation, and how much they look at [SEP], beside the best on some sentences.

    best: layer and head. leads: [layer, head] accuracy less that of the best offset, in points, where it was chosen.
    looks: [layer, head] share of attention that goes to [SEP] there, over all words; NaN where none can see it.
    rises: [layer, head] that of words that do not call for the best head less that of those that do, where scored.
    """

    best: tuple[int, int]
    leads: np.ndarray
    looks: np.ndarray
    rises: np.ndarray


class ToSep(NamedTuple):
    """How much words look at [SEP] in the head that is best at a relation, chosen on other sentences.

    sums, sizes: [sentence, group] the sum of the words' shares of attention, and the number of words, by `GROUPS`.
    is_forward: whether it is the best from dependent to head.
    of_heads: beside all heads; two where heads were chosen on halves of the sentences, and looked at in the other half.
    """

    sums: np.ndarray
    sizes: np.ndarray
    is_forward: bool
    of_heads: tuple[OfHeads, ...]

    @property
    def lead(self) -> float:
        """The least by which the best head beats the best offset where it was chosen."""
        return float(min(of_half.leads[of_half.best] for of_half in self.of_heads))

    @property
    def mean(self) -> float:
        """The least share of attention that it gives [SEP] where it was chosen."""
        return float(np.min([of_half.looks[of_half.best] for of_half in self.of_heads]))


def both(one: ToSep, other: ToSep) -> ToSep:
    """Of heads that were chosen on halves of the sentences, and looked at in the other half."""
    is_forward = one.is_forward and other.is_forward
    return ToSep(one.sums + other.sums, one.sizes + other.sizes, is_forward, one.of_heads + other.of_heads)


def groups_of(pairs: Pairs, direction: str, sentence: np.ndarray, upos: np.ndarray) -> np.ndarray:
    """Which words are in each group: [group, word] bool.

    sentence: [word] of each word its sentence, from 0; upos: [word] its tag, or an empty one. Where no word has a tag,
        the groups by tag are empty.
    """
    looking = pairs.words
    if direction != DIRECTIONS[0]:
        first = np.searchsorted(sentence, sentence[pairs.words])
        looking = (first + pairs.heads - 1)[pairs.heads > 0]
    called = np.isin(np.arange(len(sentence)), looking)
    tagged = bool((upos != "").any())
    no_noun = ~np.isin(upos, _NOUNS) & tagged
    return np.stack([called, ~called, no_noun, no_noun & (upos != _PRONOUN)])


def columns_of(rows: Sequence[ToSep], seed: int) -> dict[str, np.ndarray]:
    """Columns [row] in percent: `to_sep` of the words that call for the head, `to_sep_others` of all other words.

    Each has an interval over sentences, {name}_low and {name}_high; all are NaN where there is no such word.
    """
    columns = {}
    for group, name in enumerate(("to_sep", "to_sep_others")):
        sums, sizes = (
            np.stack([by_group[:, group] for by_group in of_rows], 1) for of_rows in tuple(zip(*rows, strict=True))[:2]
        )
        counted = sizes.sum(0)
        mean = np.divide(sums.sum(0), counted, out=np.full(len(rows), np.nan), where=counted > 0)
        ends = ratio_intervals(sums, sizes, seed=seed)
        ends = (mean, *(np.where(counted > 0, end, np.nan) for end in ends))
        columns |= {f"{name}{end}": 100 * values for end, values in zip(("", "_low", "_high"), ends, strict=True)}
    return columns


# Relations that are not a row of the table.
_LEFT_OUT = ("root", "punct")
# What stands in the table of best heads, with an interval each, in percent.
QUANTITIES = ("accuracy", "other_accuracy", "offset_accuracy", "above_offset", "forward_above_backward")
HALVES = "halves"
NO_PAIRS = Pairs(np.zeros(0, dtype=int), np.zeros(0, dtype=int))


class Choice(NamedTuple):
    """The best heads of some relations, by one way of choosing them, and how they score what is scored.

    rows: of each relation what is chosen and on what, as in the table `best` of `measure_relations`.
    scores: of each row [quantity, pair], by `QUANTITIES`, and behind them whether the right answer is visible; or NaN.
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
        sums, sizes = np.zeros((2, self.units, len(self.scores), len(QUANTITIES)))
        for row, (scores, sentence) in enumerate(zip(self.scores, self.sentences, strict=True)):
            np.add.at(sums[:, row], sentence, np.nan_to_num(scores[: len(QUANTITIES)].T))
            sizes[:, row] = np.bincount(sentence, minlength=self.units)[:, None]
        return sums.reshape(self.units, -1), sizes.reshape(self.units, -1)


class Part:
    """A part of a treebank, and what is guessed of it, by heads and by offsets.

    sentence: [word] of each word its sentence, from 0, among the `sentences` that were read; is_odd: [word].
    by_offset: the guesses of `OFFSETS`, [word, offset].
    """

    def __init__(self, sentences: Sequence[Sentence], arcs: ArcGuesses):
        kept = [sentences[index] for index in arcs.sentence]
        if [len(sentence.words) for sentence in kept] != arcs.length.tolist():
            raise InputError("The guesses at syntactic heads are not of these sentences; delete them and run again.")
        self.arcs, self.pairs = arcs, all_pairs(kept)
        self.sentence, self.sentences = sentence_of_word(kept), len(kept)
        self.upos = np.array([tag for sentence in kept for tag in sentence.upos])
        self.is_odd = (arcs.sentence % 2 == 1)[self.sentence]
        self.by_offset = all_offset_guesses(kept)
        halves = [arcs.to_sep[self.is_odd == odd].astype(float) for odd in (False, True)]
        self._to_sep = np.stack([[np.nansum(half, axis=0), (~np.isnan(half)).sum(axis=0)] for half in halves])

    def to_sep(self, words: np.ndarray) -> np.ndarray:
        """The sum of the shares of attention that go to [SEP], and the number of words, [2, layer, head].

        words: [word] which count: all, or those of the sentences of even or of odd index.
        """
        return self._to_sep[np.unique(self.is_odd[words]).astype(int)].sum(axis=0)


class _Fold(NamedTuple):
    """Pairs on which heads are chosen, and those on which the choice is scored; of which words they are, [word]."""

    chosen_on: Part
    choosing: Pairs
    choosing_words: np.ndarray
    scored_on: Part
    scoring: Pairs
    scoring_words: np.ndarray


def listed_relations(part: Part, least: int) -> Iterator[tuple[str, str]]:
    """Annotation and name of each row of the tables; least: words that it needs unless it is a total."""
    for annotation, rows in part.pairs.items():
        for relation, pairs in rows.items():
            listed = len(pairs.words) >= least and relation.partition(":")[0] not in _LEFT_OUT
            if listed or relation in TOTALS:
                yield annotation, relation


def best_heads(parts: Mapping[str, Sequence[Sentence]], arcs: Mapping[str, ArcGuesses], *, least: int) -> list[Choice]:
    """What stands in the table `best` of `measure_relations`, sentence by sentence, for intervals of other values.

    The arguments are those of `measure_relations`. Of two choices, the first is scored on what it was made on, as in
    the paper, and the second on other sentences.
    """
    read = {name: Part(parts[name], arcs[name]) for name in arcs}
    return _choices(read, list(listed_relations(read[FILE], least)))


def _choices(read: Mapping[str, Part], listed: list[tuple[str, str]]) -> list[Choice]:
    """The choices of `best_heads`; listed: as `listed_relations` gives them."""
    elsewhere = (FILE, TEST) if TEST in read else (HALVES, HALVES)
    return [_choice(*names, read[FILE], read.get(names[1]), listed) for names in ((FILE, FILE), elsewhere)]


def _folds(chosen_on: Part, scored_on: Part | None, annotation: str, relation: str) -> list[_Fold]:
    """The pairs of a relation in one fold or, without a part to score, in two: each half is scored once."""
    choosing = chosen_on.pairs[annotation][relation]
    if scored_on is None:
        halves = chosen_on.is_odd, ~chosen_on.is_odd
        odd, even = ((chosen_on, choosing.within(words), words) for words in halves)
        return [_Fold(*odd, *even), _Fold(*even, *odd)]
    words, scored = (np.ones(len(part.sentence), dtype=bool) for part in (chosen_on, scored_on))
    scoring = scored_on.pairs[annotation].get(relation, NO_PAIRS)
    return [_Fold(chosen_on, choosing, words, scored_on, scoring, scored)]


def _choice(chosen: str, scored: str, chosen_on: Part, scored_on: Part | None, listed: list[tuple[str, str]]) -> Choice:
    """The best head of each relation, of those that have words to choose by and words to score."""
    rows, values, sentences, to_sep, units = [], [], [], [], 0
    for annotation, relation in listed:
        folds = _folds(chosen_on, scored_on, annotation, relation)
        if all(len(fold.choosing.words) and len(fold.scoring.words) for fold in folds):
            chosen_by_fold, scores, looks = zip(*map(_best_of, folds), strict=True)
            agreed = {name: {choice[name] for choice in chosen_by_fold} for name in chosen_by_fold[0]}
            names = {name: values.pop() if len(values) == 1 else None for name, values in agreed.items()}
            rows.append({"annotation": annotation, "relation": relation, "chosen": chosen, "scored": scored, **names})
            values.append(np.concatenate(scores, axis=1))
            to_sep.append(reduce(both, looks))
            sentences.append(np.concatenate([fold.scored_on.sentence[fold.scoring.words] for fold in folds]))
            units = folds[0].scored_on.sentences
    return Choice(rows, values, sentences, units, to_sep)


def _best_of(fold: _Fold) -> tuple[dict, np.ndarray, ToSep]:
    """What is chosen, and how each pair is scored: [quantity, pair], of `QUANTITIES` and then of whether it is visible.

    Behind them stands how much words look at [SEP]. Scores that cannot be had are NaN.
    """
    choosing, scoring = fold.choosing, fold.scoring
    accuracy = choosing.right(fold.chosen_on.arcs.guess).mean(0)
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
        "offset": OFFSETS[offset],
    }
    to_sep = _to_sep(fold, (layer, head), direction, 100 * (accuracy.max(-1) - of_offsets.max()))
    return choice, np.stack([*scores, visible]).astype(float), to_sep


def _to_sep(fold: _Fold, best: tuple[int, int], direction: int, leads: np.ndarray) -> ToSep:
    part = fold.scored_on
    looks = part.arcs.to_sep[:, *best].astype(float)
    words = groups_of(fold.scoring, DIRECTIONS[direction], part.sentence, part.upos) & fold.scoring_words
    called = part.arcs.to_sep[words[GROUPS.index("called")]].astype(float)
    # What can see no [SEP] is not counted.
    words &= ~np.isnan(looks)
    sums, sizes = (
        np.stack([np.bincount(part.sentence, weight * group, part.sentences) for group in words], axis=1)
        for weight in (np.nan_to_num(looks), 1)
    )
    where_called = np.stack([np.nansum(called, axis=0), (~np.isnan(called)).sum(axis=0)])
    elsewhere = part.to_sep(fold.scoring_words) - where_called
    with np.errstate(invalid="ignore"):
        on_chosen, others, own = (
            total / number for total, number in (fold.chosen_on.to_sep(fold.choosing_words), elsewhere, where_called)
        )
    return ToSep(sums, sizes, direction == 0, (OfHeads(best, leads, on_chosen, others - own),))


_TEXTS = dict.fromkeys(("annotation", "relation"), str)
_HEADS = ("annotation", "relation", "part", "layer", "head", "direction", "accuracy")
_BEST = (
    *("annotation", "relation", "chosen", "scored", "words", "layer", "head", "direction", "offset"),
    *("accuracy", "other_accuracy", "offset_accuracy", "above_offset", "left_out"),
)


# Of both tables of `measure_relations`.
read_relations = table_reader("holds no accuracies of relations", dict.fromkeys(_HEADS) | _TEXTS)
read_best_heads = table_reader("holds no best heads", dict.fromkeys(_BEST) | _TEXTS | {"left_out": str})


def chosen_and_scored_on_file(best: pd.DataFrame) -> pd.DataFrame:
    """The best heads as the paper has them, chosen and scored on the same sentences."""
    return best[(best["chosen"] == "file") & (best["scored"] == "file")]


class RelationTables(NamedTuple):
    """Both tables of `measure_relations`."""

    heads: pd.DataFrame
    best: pd.DataFrame


def measure_relations(
    parts: Mapping[str, Sequence[Sentence]],
    arcs: Mapping[str, ArcGuesses],
    *,
    least: int,
    seed: int,
) -> RelationTables:
    """The accuracy of every head at every relation, and the best head of each.

    parts:   the sentences of `file` and, where there is one, of `test`; arcs: the guesses of each.
    least:   words of `file` that a relation must have to be a row; `root` and `punct` never are, and totals always.

    returns two tables; layers and heads count from 0, all accuracies are in percent.
    heads: one row for each relation, part, layer, head and direction (`guesses.DIRECTIONS`): annotation and relation
      as `pairs.all_pairs` names them; words, the number of guesses; accuracy; visible, the number of those whose right
      answer the head can see; visible_accuracy, over these. Where it can see none, both accuracies are NaN: in a causal
      model, a guess at a word that stands later is impossible and not wrong.
    best: one row for each relation and way of choosing. chosen and scored: `file` and `file`, as in the paper; and
      `file` and `test` or, without a test file, `halves`: of the sentences of even and of odd index, each is
      scored with what is chosen on the other. words; layer, head and direction of the best head, and its accuracy;
      other_layer, other_head and other_accuracy of the best in the other direction; offset and offset_accuracy of the
      best offset (the head stands so many words behind the dependent); above_offset, the difference;
      forward_above_backward, the best from dependent to head minus the best from head to dependent; visible and
      visible_accuracy of the best head; to_sep and to_sep_others, how much of the attention in it goes to [SEP]
      (`columns_of`). Each of these and of `QUANTITIES` has an interval over sentences, {name}_low and
      {name}_high. Where halves choose differently, layer, head, direction and offset are empty. left_out: how many
      sentences of `file` no head reads, and why, as a sentence; empty where there are none.
    """
    read = {name: Part(parts[name], arcs[name]) for name in arcs}
    listed = list(listed_relations(read[FILE], least))
    best = [_with_intervals(choice, seed) for choice in _choices(read, listed)]
    rows = [_head_rows(name, part, annotation, row) for name, part in read.items() for annotation, row in listed]
    table = pd.concat(best, ignore_index=True)
    return RelationTables(pd.concat(rows, ignore_index=True), table.assign(left_out=" ".join(arcs[FILE].warnings)))


def _head_rows(name: str, part: Part, annotation: str, relation: str) -> pd.DataFrame:
    pairs = part.pairs[annotation].get(relation, NO_PAIRS)
    right, can_be = pairs.right(part.arcs.guess), part.arcs.can_be(pairs.words, pairs.heads)[:, :, None]
    visible = np.broadcast_to(can_be.sum(0), right.shape[1:])
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
    }
    return pd.DataFrame(columns)


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


def _percent(count: np.ndarray, of: np.ndarray) -> np.ndarray:
    count, of = np.asarray(count, float), np.asarray(of, float)
    return np.divide(100 * count, of, out=np.full(np.broadcast_shapes(count.shape, of.shape), np.nan), where=of > 0)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `measure_relations`."""
    tables = measure_relations(read_parts(inputs.rows, inputs.test), read_groups(inputs.arcs, ArcGuesses), **spec)
    write_csv(outputs.relations, tables.heads)
    write_csv(outputs.relations_best, tables.best)
