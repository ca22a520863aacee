"""The best head and the best fixed offset for each dependency relation (Clark et al. 2019, section 4.2, Table 1).

The root is never guessed. Stanford's relations, on which the paper scores heads, are derived from Universal
Dependencies, version 2; docs/understand/clark.md says how, and which are not.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float64, Int64

from headtypes.analyses.relations.guesses import DIRECTIONS, ArcGuesses
from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import Stored, read_groups, write_arrays
from headtypes.core.statistics import mean_intervals
from headtypes.core.table_files import table_reader, write_csv
from headtypes.data.kinds.treebank import Sentence, read_parts

# Labels that are renamed at most. No subtypes: predet and preconj are subtypes of det and cc in UD.
_RENAMED = {
    **{label: label for label in ("advcl", "amod", "appos", "ccomp", "cop", "det", "nsubj", "xcomp")},
    "acl": "partmod",
    "acl:relcl": "rcmod",
    "aux:pass": "auxpass",
    "compound:prt": "prt",
    "nmod:poss": "poss",
    "nsubj:pass": "nsubjpass",
    "nummod": "num",
    "obj": "dobj",
}
# The row in which the guess of a possessive mark counts instead of the word's, as the released code has it.
POSS_OF_MARK = "poss*"


def derived(sentence: Sentence, tagged: bool = True) -> Iterator[tuple[str, int, int]]:
    """Yield (name, word, head) for each of Stanford's dependency relations in a sentence of Universal Dependencies.

    word: number of the dependent, from 1. With each `poss` comes a `poss*`, whose word is the possessive mark behind
        the dependent, or itself without a mark. head: number of the dependent's syntactic head. tagged: whether the
        treebank has XPOS; without it, there are no relations aux, mark, prep and pobj.
    """
    for word, head, label in sentence.arcs():
        if label in _RENAMED:
            yield _RENAMED[label], word, head
        if label == "nmod:poss":
            marked = word < len(sentence.words) and sentence.words[word] in ("'s", "s'")
            yield POSS_OF_MARK, word + 1 if marked else word, head
        elif label == "compound" and sentence.upos[word - 1] in ("NOUN", "PROPN") and word < head:
            yield "nn", word, head
        elif label == "advmod":
            # A treebank need not have lemmas.
            lemma = sentence.lemmas[word - 1] or sentence.words[word - 1]
            yield "neg" if lemma.lower() in ("not", "n't", "never") else "advmod", word, head
        elif label in ("aux", "mark") and tagged:
            yield "aux" if label == "aux" or sentence.xpos[word - 1] == "TO" else "mark", word, head
    if tagged:
        yield from _prepositional(sentence)


def _prepositional(sentence: Sentence) -> Iterator[tuple[str, int, int]]:
    before = defaultdict(list)
    for word, head, label in sentence.arcs():
        if label == "case" and word < head and sentence.xpos[word - 1] != "POS":
            before[head].append(word)
    for noun, prepositions in sorted(before.items()):
        yield "pobj", noun, prepositions[-1]
        universal, _, subtype = sentence.relations[noun - 1].partition(":")
        if universal in ("obl", "nmod") and subtype != "poss":
            yield "prep", prepositions[0], sentence.heads[noun - 1]


# Totals, since the paper does not say which of them its first row is.
ALL, WITHOUT_PUNCTUATION, WITHOUT_ROOT = "all", "without punctuation", "without punctuation and root"
TOTALS = (ALL, WITHOUT_PUNCTUATION, WITHOUT_ROOT)


@dataclass(frozen=True)
class Pairs:
    """The words of one dependency relation, with their syntactic heads, which are the right guesses.

    words: [pair] int64, index of the word among the words of all sentences, from 0. heads: [pair] int64, number of the
        word's syntactic head in the sentence, from 1; 0 for the root.
    """

    words: np.ndarray
    heads: np.ndarray

    def is_right(self, guesses: np.ndarray) -> np.ndarray:
        """Return for each pair of a word and its syntactic head whether the guess at the head is right, [pair, ...].

        guesses: [word of all sentences, ...] number of the guessed word in the sentence, from 1; -1 for no guess.
        """
        return guesses[self.words] == self.heads.reshape(-1, *[1] * (guesses.ndim - 1))

    def within(self, chosen: np.ndarray) -> "Pairs":
        kept = chosen[self.words]
        return Pairs(self.words[kept], self.heads[kept])


def universal_pairs(sentences: Sequence[Sentence]) -> dict[str, Pairs]:
    """Return {relation: its words with their syntactic heads}: three totals, then the labels of the treebank, sorted.

    The totals are `all` (all words), `without punctuation`, and `without punctuation and root`. A label with subtypes,
    such as `nsubj:pass`, has a further entry `nsubj:*` for itself and all its subtypes together. Raises `InputError` if
    a label has the name of a total, or ends in `:*`.
    """
    labels = sorted({label for sentence in sentences for label in sentence.relations})
    for label in labels:
        if label in TOTALS or label.endswith(":*"):
            raise InputError(
                f"The treebank has the relation {label!r}, by which the table names several relations together; rename "
                "it."
            )
    divided = {label.partition(":")[0] for label in labels if ":" in label}

    def rows_of(sentence: Sentence) -> Iterator[tuple[str, int, int]]:
        for word, head, label in sentence.arcs():
            universal = label.partition(":")[0]
            counts = {ALL: True, WITHOUT_PUNCTUATION: universal != "punct", WITHOUT_ROOT: universal != "punct" and head}
            counts |= {label: True, f"{universal}:*": universal in divided}
            yield from ((name, word, head) for name, counted in counts.items() if counted)

    rows = _pairs_by_name(sentences, rows_of)
    return {name: rows[name] for name in sorted(rows, key=lambda name: (name not in TOTALS, name))}


def stanford_pairs(sentences: Sequence[Sentence]) -> dict[str, Pairs]:
    tagged = any(tag for sentence in sentences for tag in sentence.xpos)
    return _pairs_by_name(sentences, lambda sentence: derived(sentence, tagged))


def _all_pairs(sentences: Sequence[Sentence]) -> dict[str, dict[str, Pairs]]:
    return {"universal": universal_pairs(sentences), "stanford": stanford_pairs(sentences)}


def sentence_of_word(sentences: Sequence[Sentence]) -> np.ndarray:
    return np.repeat(np.arange(len(sentences)), [len(sentence.words) for sentence in sentences])


def _pairs_by_name(
    sentences: Sequence[Sentence], rows_of: Callable[[Sentence], Iterable[tuple[str, int, int]]]
) -> dict[str, Pairs]:
    words, heads, before = defaultdict(list), defaultdict(list), 0
    for sentence in sentences:
        for name, word, head in rows_of(sentence):
            words[name].append(before + word - 1)
            heads[name].append(head)
        before += len(sentence.words)
    return {name: Pairs(np.array(words[name]), np.array(heads[name])) for name in words}


# Parts of a treebank: the file that is evaluated, its sentences of even and of odd index (from 0), and the test file.
FILE, EVEN, ODD, TEST = "file", "even", "odd", "test"
# The offsets that are tried; a word is not its own head.
OFFSETS = (-3, -2, -1, 1, 2, 3)


def measure_offsets(parts: Mapping[str, Sequence[Sentence]]) -> pd.DataFrame:
    """Return a table of the accuracy of fixed offsets (-3 to 3 words, but 0) as guesses at syntactic heads.

    parts: {"file": sentences} of a treebank and, if there is a test file, {"test": its sentences}.
    Columns: part (`file`, its sentences of `even` or `odd` index, or `test`), annotation (`universal` or `stanford`),
    relation, words (number of the relation's words in the part), offset, and accuracy in percent.
    """
    rows = []
    for name, sentences in parts.items():
        guesses, odd, pairs = offset_guesses(sentences), sentence_of_word(sentences) % 2 == 1, _all_pairs(sentences)
        halves = {EVEN: ~odd, ODD: odd} if name == FILE else {}
        rows += [
            (part, annotation, relation, len(row.words), offset, accuracy)
            for part, chosen in {name: np.ones_like(odd), **halves}.items()
            for annotation, by_name in pairs.items()
            for relation, whole in by_name.items()
            if len((row := whole.within(chosen)).words)
            for offset, accuracy in zip(OFFSETS, 100 * row.is_right(guesses).mean(axis=0), strict=True)
        ]
    return pd.DataFrame(rows, columns=["part", "annotation", "relation", "words", "offset", "accuracy"])


def offset_guesses(sentences: Sequence[Sentence]) -> np.ndarray:
    """Return six guesses at the syntactic head of each word of all sentences, [word, offset].

    A guess is the number, from 1, of the word at distance -3, -2, -1, 1, 2 or 3 (`OFFSETS`); -1 if there is none.
    """
    lengths = np.array([len(sentence.words) for sentence in sentences], dtype=np.int64)
    last = np.repeat(lengths, lengths)[:, None]
    guesses = np.concatenate([np.arange(length) for length in lengths])[:, None] + 1 + np.array(OFFSETS)
    return np.where((guesses >= 1) & (guesses <= last), guesses, -1)


# Words that the best head looks from (dependents in direction 0, else heads), all others; no nouns; nor pronouns.
GROUPS = ("called", "others", "no_noun", "no_noun_or_pronoun")
CHOSEN = ("layer", "head", "direction", "other_layer", "other_head", "offset")
QUANTITIES = ("accuracy", "other_accuracy", "offset_accuracy", "above_offset", "forward_above_backward")
_HALVES = "halves"


@dataclass(frozen=True)
class BestHeads:
    """The best attention head for each dependency relation, and how often it is right in each sentence.

    A fold is one choice. A single fold is chosen on a whole file, and scored on this file or a test file. The first of
    two folds is chosen on sentences 1, 3, ... and scored on sentences 0, 2, ...; the second the other way round.
    chosen: [relation, fold, 6] layer, head and direction (index in `DIRECTIONS`) of the best head; layer and head of
        the best head in the other direction, -1 for none; index of the best offset in `OFFSETS`.
    words: [sentence, relation] number of words with the relation. right: [sentence, relation, 5] number of these words
        that (0) the best head, (1) that of the other direction and (2) the best offset guess right; (3) is (0) less
        (2); (4) is (0) less (1), or (1) less (0) if `chosen` has direction 1. docs/lookup/outputs.md has other fields.
    """

    annotation: Annotated[list[str], Stored(dimension="relation")]
    relation: Annotated[list[str], Stored(dimension="relation")]
    chosen: Int64[np.ndarray, "relation fold 6"]
    right: Float64[np.ndarray, "sentence relation 5"]
    words: Int64[np.ndarray, "sentence relation"]
    visible: Int64[np.ndarray, " relation"]
    to_sep: Float64[np.ndarray, "sentence relation 4"]
    to_sep_words: Int64[np.ndarray, "sentence relation 4"]
    leads: Float64[np.ndarray, "relation fold layer head"]
    looks: Float64[np.ndarray, "fold layer head"]
    rises: Float64[np.ndarray, "relation fold layer head"]

    def of_best(self, values: np.ndarray) -> Float64[np.ndarray, "relation fold"]:
        relation, fold = np.indices(self.chosen.shape[:2], sparse=True)
        return np.broadcast_to(values, self.leads.shape)[relation, fold, self.chosen[..., 0], self.chosen[..., 1]]


class _Part:
    # Of the sentences that a model has read, those of one parity (0: even index in the treebank) count, or all (None).
    def __init__(self, sentences: Sequence[Sentence], arcs: ArcGuesses, parity: int | None = None):
        kept = [sentences[index] for index in arcs.sentence]
        if [len(sentence.words) for sentence in kept] != arcs.length.tolist():
            raise InputError("The guesses at syntactic heads are not of these sentences; delete them and run again.")
        self.arcs, self.sentence, self.sentences = arcs, sentence_of_word(kept), len(kept)
        self.upos = np.array([tag for sentence in kept for tag in sentence.upos])
        self.by_offset = offset_guesses(kept)
        self.counted = (arcs.sentence % 2 == parity)[self.sentence] | (parity is None)
        self.pairs = {
            annotation: {relation: pairs.within(self.counted) for relation, pairs in by_name.items()}
            for annotation, by_name in _all_pairs(kept).items()
        }

    def of(self, annotation: str, relation: str) -> Pairs:
        return self.pairs[annotation].get(relation, Pairs(*np.zeros((2, 0), dtype=int)))

    # [group, word] bool, by `GROUPS`. By section 3.2, a head looks at [SEP] from words that do not call for it.
    def groups(self, pairs: Pairs, direction: int) -> np.ndarray:
        looking = pairs.words
        if direction:
            first = np.searchsorted(self.sentence, self.sentence[pairs.words])
            looking = (first + pairs.heads - 1)[pairs.heads > 0]
        called = np.isin(np.arange(len(self.sentence)), looking)
        no_noun = ~np.isin(self.upos, ["NOUN", "PROPN"]) & (self.upos != "").any()
        return np.stack([called, ~called, no_noun, no_noun & (self.upos != "PRON")]) & self.counted

    # [2, layer, head], sum and number of the shares that words, [word] bool, give [SEP], if they can see it.
    def to_sep(self, words: np.ndarray) -> np.ndarray:
        shares = self.arcs.to_sep[words]
        return np.stack([np.nansum(shares, axis=0, dtype=float), (~np.isnan(shares)).sum(axis=0)])


def _best_heads(folds: Sequence[tuple[_Part, _Part]], listed: Sequence[tuple[str, str]]) -> BestHeads:
    # Of relations that have words to choose by and to score in every fold.
    names = [name for name in listed if all(len(part.of(*name).words) for fold in folds for part in fold)]
    sentences, (_, *heads, _) = folds[0][1].sentences, folds[0][0].arcs.guess.shape
    best = BestHeads(
        annotation=[annotation for annotation, _ in names],
        relation=[relation for _, relation in names],
        chosen=np.zeros((len(names), len(folds), len(CHOSEN)), dtype=int),
        right=np.zeros((sentences, len(names), len(QUANTITIES))),
        words=np.zeros((sentences, len(names)), dtype=int),
        visible=np.zeros(len(names), dtype=int),
        to_sep=np.zeros((sentences, len(names), len(GROUPS))),
        to_sep_words=np.zeros((sentences, len(names), len(GROUPS)), dtype=int),
        leads=np.zeros((len(names), len(folds), *heads)),
        looks=np.zeros((len(folds), *heads)),
        rises=np.zeros((len(names), len(folds), *heads)),
    )
    with np.errstate(invalid="ignore"):
        for number, (chosen_on, scored_on) in enumerate(folds):
            best.looks[number] = np.divide(*chosen_on.to_sep(chosen_on.counted))
            all_to_sep = scored_on.to_sep(scored_on.counted)
            for row, name in enumerate(names):
                _choose(best, (row, number), chosen_on, chosen_on.of(*name))
                _score(best, (row, number), scored_on, scored_on.of(*name), all_to_sep)
    return best


def _choose(best: BestHeads, at: tuple[int, int], part: _Part, pairs: Pairs) -> None:
    accuracy = pairs.is_right(part.arcs.guess).mean(0)
    seen = part.arcs.can_be(pairs.words, pairs.heads).any(0)
    accuracy[~np.broadcast_to(seen[:, None], accuracy.shape)] = -1
    layer, head, direction = np.unravel_index(accuracy.argmax(), accuracy.shape)
    others = accuracy[..., 1 - direction]
    other = np.unravel_index(others.argmax(), others.shape) if others.max() >= 0 else (-1, -1)
    offset_accuracy = pairs.is_right(part.by_offset).mean(0)
    best.chosen[at] = layer, head, direction, *other, offset_accuracy.argmax()
    best.leads[at] = 100 * (accuracy.max(-1) - offset_accuracy.max())


def _score(best: BestHeads, at: tuple[int, int], part: _Part, pairs: Pairs, all_to_sep: np.ndarray) -> None:
    (layer, head, direction, *other, offset), row = best.chosen[at], at[0]
    guess = part.arcs.guess[pairs.words]
    best_right = (guess[:, layer, head, direction] == pairs.heads).astype(float)
    other_right = np.where(other[0] < 0, np.nan, guess[:, *other, 1 - direction] == pairs.heads)
    offset_right = part.by_offset[pairs.words, offset] == pairs.heads
    forward_above_backward = (1 - 2 * direction) * (best_right - other_right)
    scores = best_right, other_right, offset_right, best_right - offset_right, forward_above_backward
    sentence = part.sentence[pairs.words]
    np.add.at(best.right[:, row], sentence, np.stack(scores, axis=1))
    np.add.at(best.words[:, row], sentence, 1)
    best.visible[row] += part.arcs.can_be(pairs.words, pairs.heads)[:, layer, direction].sum()
    looks = part.arcs.to_sep[:, layer, head].astype(float)
    words = part.groups(pairs, direction)
    called = part.to_sep(words[GROUPS.index("called")])
    best.rises[at] = np.divide(*(all_to_sep - called)) - np.divide(*called)
    for group, members in enumerate(words & ~np.isnan(looks)):
        np.add.at(best.to_sep[:, row, group], part.sentence[members], looks[members])
        np.add.at(best.to_sep_words[:, row, group], part.sentence[members], 1)


_TEXTS = dict.fromkeys(("annotation", "relation"), str)
read_relations = table_reader(
    "holds no accuracies of relations", _TEXTS | dict.fromkeys(("part", "layer", "head", "direction", "accuracy"))
)
_BEST = ("chosen", "scored", "words", "layer", "head", "direction", "offset", *QUANTITIES[:4])
read_best_heads = table_reader("holds no best heads", _TEXTS | dict.fromkeys(_BEST) | {"left_out": str})


def chosen_and_scored_on_file(best: pd.DataFrame) -> pd.DataFrame:
    return best[(best["chosen"] == "file") & (best["scored"] == "file")]


class RelationTables(NamedTuple):
    """Accuracies: `heads` has a row for each relation, head and direction, `best` one for each relation's best head.

    sums: {words scored: counts}; "file" (all), and "test" or, without it, "halves" (each by the other's best heads).
    """

    heads: pd.DataFrame
    best: pd.DataFrame
    sums: dict[str, BestHeads]


def measure_relations(
    parts: Mapping[str, Sequence[Sentence]], arcs: Mapping[str, ArcGuesses], *, least: int
) -> RelationTables:
    """Return tables of the accuracy of all heads and of relations' best heads, and {scored part: `BestHeads`}.

    parts: {"file": sentences}, and "test" if there is a test file. arcs: attention heads' guesses, with the same keys.
    least: how many words in `file` a relation needs to have rows; totals, such as `all`, need none, and `root` and
    `punct` never have rows. Scored parts: "file", and "test" or else "halves" (chosen on one, scored on the other).
    """
    read = {name: _Part(parts[name], arcs[name]) for name in arcs}
    listed = [
        (annotation, relation)
        for annotation, rows in read[FILE].pairs.items()
        for relation, pairs in rows.items()
        if relation in TOTALS or (len(pairs.words) >= least and relation.partition(":")[0] not in ("root", "punct"))
    ]
    # Chosen and scored on the same words, as in the paper, and on others: the test file, or each half for the other.
    folds = {FILE: [(read[FILE], read[FILE])]}
    if TEST in read:
        folds[TEST] = [(read[FILE], read[TEST])]
    else:
        even, odd = (_Part(parts[FILE], arcs[FILE], parity) for parity in (0, 1))
        folds[_HALVES] = [(odd, even), (even, odd)]
    sums = {scored: _best_heads(some, listed) for scored, some in folds.items()}
    rows = [_head_rows(name, part, annotation, row) for name, part in read.items() for annotation, row in listed]
    best = pd.concat([_best_rows(scored, best) for scored, best in sums.items()], ignore_index=True)
    best = best.assign(left_out=" ".join(arcs[FILE].warnings))
    return RelationTables(pd.concat(rows, ignore_index=True), best, sums)


def _head_rows(name: str, part: _Part, annotation: str, relation: str) -> pd.DataFrame:
    pairs = part.of(annotation, relation)
    right, can_be = pairs.is_right(part.arcs.guess), part.arcs.can_be(pairs.words, pairs.heads)[:, :, None]
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


def _best_rows(scored: str, best: BestHeads) -> pd.DataFrame:
    names = {"annotation": best.annotation, "relation": best.relation}
    table = pd.DataFrame(names).assign(chosen=_HALVES if scored == _HALVES else FILE, scored=scored)
    for name, choices in zip(CHOSEN, np.moveaxis(best.chosen, -1, 0), strict=True):
        agreed = (choices == choices[:, :1]).all(1) & (choices[:, 0] >= 0)
        table[name] = pd.Series(choices[:, 0], dtype="Int64").where(agreed)
    table["direction"] = table["direction"].map(dict(enumerate(DIRECTIONS)))
    table["offset"] = table["offset"].map(dict(enumerate(OFFSETS))).astype("Int64")
    table["words"] = best.words.sum(0)
    sums = np.concatenate([best.right, best.to_sep[..., :2]], axis=2)
    sizes = np.concatenate([np.repeat(best.words[..., None], len(QUANTITIES), 2), best.to_sep_words[..., :2]], axis=2)
    with np.errstate(invalid="ignore"):
        means = 100 * (sums.sum(0) / sizes.sum(0))
    for column, name in enumerate((*QUANTITIES, "to_sep", "to_sep_others")):
        low, high = mean_intervals(sums[..., column], sizes[..., column], (-1 if "above" in name else 0, 1))
        table = table.assign(**{name: means[:, column], f"{name}_low": 100 * low, f"{name}_high": 100 * high})
    # A head that is right sees the right answer.
    return table.assign(visible=best.visible, visible_accuracy=_percent(best.right[..., 0].sum(0), best.visible))


def _percent(count: np.ndarray, of: np.ndarray) -> np.ndarray:
    count, of = np.asarray(count, float), np.asarray(of, float)
    return np.divide(100 * count, of, out=np.full(np.broadcast_shapes(count.shape, of.shape), np.nan), where=of > 0)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    found = measure_relations(read_parts(inputs.rows, inputs.test), read_groups(inputs.arcs, ArcGuesses), **spec)
    write_csv(outputs.relations, found.heads)
    write_csv(outputs.relations_best, found.best)
    write_arrays(outputs.relations_sums, found.sums, provenance)


def run_offsets(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    write_csv(outputs.offsets, measure_offsets(read_parts(inputs.rows, inputs.test)))
