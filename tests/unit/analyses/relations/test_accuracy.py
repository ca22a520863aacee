"""Planted heads are found for what they are; relations, offsets and attention to [SEP] equal counts by hand."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.relations import analysis
from headtypes.analyses.relations.accuracy import (
    GROUPS,
    OFFSETS,
    BestHeads,
    derived,
    measure_offsets,
    measure_relations,
    offset_guesses,
    stanford_pairs,
    universal_pairs,
)
from headtypes.analyses.relations.guesses import DIRECTIONS, ArcGuesses
from headtypes.analyses.relations.measure import Guesses
from headtypes.core.table_files import write_csv
from tests.support.conllu import sentence as tagged_sentence
from tests.support.demo import demo_rows
from tests.support.word_maps import read_planted, sentence, tokens_of

FORWARD, BACKWARD = DIRECTIONS
# Each with the subwords of its words: one to five, and sentences of one and of two words.
BANK = [
    (sentence("bark", (0,), "root"), (1,)),
    (sentence("yes", (0,), "root"), (3,)),
    (sentence("dogs bark", (2, 0), "nsubj root"), (2, 1)),
    (sentence("the cat saw a dog", (2, 3, 0, 5, 3), "det nsubj root det obj"), (1, 2, 1, 1, 5)),
    (sentence("read the long books there", (0, 4, 4, 1, 1), "root det amod obj advmod"), (1, 1, 5, 2, 1)),
    (
        sentence("a young man ate the old bread", (3, 3, 4, 0, 7, 7, 4), "det amod nsubj root det amod obj"),
        (1, 3, 1, 4, 2, 1, 1),
    ),
]
SENTENCES = [each for each, _ in BANK]
DETERMINER, PREVIOUS, OBJECT = 0, 1, 2
# Of each head, the word at which a word looks, if there is one.
WANTED = (
    lambda read, word: read.heads[word] - 1 if read.relations[word] == "det" else None,
    lambda read, word: word - 1 if word else None,
    lambda read, word: next((n - 1 for n, head, label in read.arcs() if (head, label) == (word + 1, "obj")), None),
)


def looks(sentence, subwords, wanted) -> np.ndarray:
    """Attention of tokens, [token, token], under which each word looks at the word that is wanted, or at `[CLS]`."""
    word_of = np.array(tokens_of(subwords))
    attention = np.zeros((len(word_of), len(word_of)))
    for token, word in enumerate(word_of):
        target = None if word < 0 else wanted(sentence, word)
        at = word_of == target if target is not None else np.arange(len(word_of)) == 0
        # A little everywhere else, a little more on the word itself, which is not a candidate.
        attention[token] = 0.1 / len(word_of) + 0.3 * (word_of == word) / max(1, (word_of == word).sum())
        attention[token] += 0.6 * at / at.sum()
    return attention / attention.sum(-1, keepdims=True)


@pytest.fixture(scope="module")
def arcs() -> ArcGuesses:
    tokens = [tokens_of(subwords) for _, subwords in BANK]
    maps = [np.stack([looks(*each, of_head) for of_head in WANTED])[None] for each in BANK]
    found = map(np.concatenate, zip(*read_planted(Guesses(tokens), maps), strict=True))
    length = np.array([len(words) for _, words in BANK], np.int32)
    return ArcGuesses(np.arange(len(BANK), dtype=np.int32), length, *found)


@pytest.fixture(scope="module")
def tables(arcs):
    return measure_relations({"file": SENTENCES}, {"file": arcs}, least=3)


def places(arcs) -> tuple[np.ndarray, np.ndarray]:
    # Of each word, its place in its sentence and that of the last word, from 1.
    return np.concatenate([np.arange(1, length + 1) for length in arcs.length]), np.repeat(arcs.length, arcs.length)


def best(tables, relation) -> dict:
    rows = tables.best.query("annotation == 'universal' and relation == @relation and chosen == 'file'")
    (row,) = rows.to_dict("records")
    return row


def test_the_determiner_head_is_the_best_at_determiners(tables):
    row = best(tables, "det")
    assert (row["layer"], row["head"], row["direction"], row["accuracy"]) == (0, DETERMINER, FORWARD, 100)
    assert (row["words"], row["offset"], row["offset_accuracy"]) == (5, 2, 60)
    assert (row["above_offset"], row["visible"], row["visible_accuracy"]) == (40, 5, 100)


def test_a_head_that_finds_objects_only_from_the_verb_is_found_in_that_direction(tables):
    row = best(tables, "obj")
    assert (row["head"], row["direction"], row["accuracy"]) == (OBJECT, BACKWARD, 100)
    rows = tables.heads.query("relation == 'obj' and head == @OBJECT and direction == @FORWARD")
    assert rows["accuracy"].max() < 50
    assert row["forward_above_backward"] == pytest.approx(row["other_accuracy"] - 100)


def test_the_previous_word_head_guesses_the_offset(arcs, tables):
    words, last = places(arcs)
    forward, backward = arcs.guess[:, 0, PREVIOUS].T
    np.testing.assert_array_equal(forward[words > 1], words[words > 1] - 1)
    # From head to dependent, the word behind.
    np.testing.assert_array_equal(backward[words < last], words[words < last] + 1)
    row = best(tables, "amod")
    assert (row["head"], row["direction"], row["accuracy"]) == (PREVIOUS, BACKWARD, 100)
    assert (row["offset"], row["offset_accuracy"], row["above_offset"]) == (1, 100, 0)


def test_totals_count_the_root_which_nobody_finds(tables):
    words = {name: best(tables, name)["words"] for name in ("all", "without punctuation and root")}
    assert words == {"all": 21, "without punctuation and root": 15}
    rows = tables.heads.query("relation == 'all'")
    assert (rows["visible"] == 15).all()
    np.testing.assert_allclose(rows["accuracy"] * 21, rows["visible_accuracy"] * 15)


def test_roots_and_relations_of_few_words_are_no_rows(tables):
    assert set(tables.best.query("annotation == 'universal'")["relation"]) >= {"det", "obj", "nsubj", "amod"}
    assert not set(tables.best["relation"]) & {"root", "advmod"}


def test_the_test_file_is_scored_with_the_choices_of_the_file(arcs):
    swapped = replace(arcs, guess=arcs.guess[:, :, ::-1])
    parts = {"file": SENTENCES, "test": SENTENCES}
    tables = measure_relations(parts, {"file": arcs, "test": swapped}, least=3)
    row = tables.best.query("annotation == 'universal' and relation == 'det' and scored == 'test'").iloc[0]
    assert row["head"] == DETERMINER
    # The third head of the test part is the determiner head.
    of_file = tables.heads.query("annotation == 'universal' and relation == 'det' and part == 'file'")
    of_objects = of_file.query("head == @OBJECT and direction == @FORWARD")
    assert row["accuracy"] == of_objects["accuracy"].item()
    assert set(tables.best["scored"]) == {"file", "test"}


def test_what_a_causal_model_cannot_guess_is_empty(arcs):
    words, last = places(arcs)
    ends = [[np.ones_like(words), words - 1], [words + 1, last]]
    visible = np.moveaxis(np.array(ends), -1, 0)[:, None]
    visible = np.where(visible[..., :1] > visible[..., 1:], -1, visible).astype(np.int16)
    causal = replace(arcs, guess=np.where(visible[:, :, None, :, 0] < 0, -1, arcs.guess), visible=visible)
    tables = measure_relations({"file": SENTENCES}, {"file": causal}, least=3)
    # The head of a determiner stands behind it, so that only the head can look at the determiner.
    rows = tables.heads.query("relation == 'det' and annotation == 'universal'")
    assert rows.query("direction == @FORWARD")[["accuracy", "visible_accuracy"]].isna().all(axis=None)
    assert rows.query("direction == @BACKWARD")["accuracy"].notna().all()
    row = best(tables, "det")
    assert row["direction"] == BACKWARD
    assert np.isnan(row["other_accuracy"])
    assert np.isnan(row["forward_above_backward_low"])


def test_best_heads_are_those_of_the_guesses_that_can_be_right(tmp_path):
    accuracies = {"det": (50, 10), "nsubj": (np.nan, 40), "expl": (np.nan, np.nan)}
    table = pd.DataFrame(accuracies).rename_axis("head").reset_index().melt("head", None, "relation", "accuracy")
    table = table.assign(annotation="universal", part="file", layer=0, direction=FORWARD)
    write_csv(tmp_path / "heads.csv", table)
    *_, counted = analysis.per_set("bank", tmp_path / "heads.csv", None, 0)
    assert counted.statistic == "best head here"
    assert counted.values(np.array([[True, False], [False, True]])).tolist() == [1, 1]


SEPARATED = demo_rows("treebank", 60)
# Of each, the head that finds it: subjects and objects from the dependent, determiners from what they belong to.
FOUND = {"nsubj": (0, 0), "obj": (0, 1), "det": (1, 1)}
LENGTH = np.array([len(each.words) for each in SEPARATED], np.int32)


def planted() -> ArcGuesses:
    guess = np.full((LENGTH.sum(), 2, 8, 2), -1, np.int16)
    to_sep = np.random.default_rng(3).random((len(guess), 2, 8)).astype(np.float16)
    # What cannot see [SEP].
    to_sep[::7] = np.nan
    for word, (_, head, label) in enumerate(arc for read in SEPARATED for arc in read.arcs()):
        if label in FOUND:
            guess[(word, *FOUND[label], int(label == "det"))] = head
    visible = np.tile(np.array([1, 99], np.int16), (len(guess), 2, 2, 1))
    return ArcGuesses(np.arange(len(SEPARATED), dtype=np.int32), LENGTH, guess, visible, to_sep)


def counted(relation: str, to_sep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums and numbers of words, [sentence, group], word by word."""
    sums, sizes = np.zeros((2, len(SEPARATED), len(GROUPS)))
    values = iter(to_sep[(slice(None), *FOUND[relation])].tolist())
    for number, read in enumerate(SEPARATED):
        # The words that look at the other word of the relation: for `det`, the words that determiners depend on.
        call = {(head if label == "det" else word) - 1 for word, head, label in read.arcs() if label == relation}
        for word, tag in enumerate(read.upos):
            value, is_noun = next(values), tag in ("NOUN", "PROPN")
            if np.isnan(value):
                continue
            groups = word in call, word not in call, not is_noun, not is_noun and tag != "PRON"
            for group, belongs in enumerate(groups):
                sums[number, group] += value * belongs
                sizes[number, group] += belongs
    return sums, sizes


def elsewhere(parts: dict, arcs: dict, relation: str) -> tuple[BestHeads, int]:
    # Scored where they were not chosen; and the row of the relation.
    _, best = measure_relations(parts, arcs, least=5).sums.values()
    return best, [*zip(best.annotation, best.relation, strict=True)].index(("universal", relation))


@pytest.mark.parametrize("test", [True, False], ids=["test", "halves"])
@pytest.mark.parametrize("relation", FOUND)
def test_words_of_each_group_are_counted(relation, test):
    arcs = planted()
    parts = {"file": SEPARATED} | ({"test": SEPARATED} if test else {})
    # What [SEP] gets on the file decides nothing but whether the head looks at it.
    on_file = replace(arcs, to_sep=arcs.to_sep / 2) if test else arcs
    best, row = elsewhere(parts, {"file": on_file} | ({"test": arcs} if test else {}), relation)
    sums, sizes = counted(relation, arcs.to_sep)
    np.testing.assert_allclose(best.to_sep[:, row], sums)
    np.testing.assert_array_equal(best.to_sep_words[:, row], sizes)
    layers_heads = [[*FOUND[relation], int(relation == "det")]] * (1 if test else 2)
    assert best.chosen[row, :, :3].tolist() == layers_heads
    of_words = on_file.to_sep[(slice(None), *FOUND[relation])].astype(float)
    odd = np.repeat(arcs.sentence % 2, LENGTH) > 0
    halves = [np.ones_like(odd)] if test else [odd, ~odd]
    assert best.of_best(best.looks)[row] == pytest.approx([np.nanmean(of_words[half]) for half in halves])
    pairs = [
        (number % 2, head - word)
        for number, sentence in enumerate(SEPARATED)
        for word, head, label in sentence.arcs()
        if label == relation
    ]
    leads = []
    for parity in ((0, 1),) if test else ((1,), (0,)):
        offsets = [offset for at, offset in pairs if at in parity]
        leads.append(100 - 100 * max(offsets.count(it) for it in range(-3, 4)) / len(offsets))
    assert best.of_best(best.leads)[row] == pytest.approx(leads)
    is_odd = np.arange(len(SEPARATED)) % 2 > 0
    for fold, scored in enumerate([slice(None)] if test else [~is_odd, is_odd]):
        called, others = (sums[scored, group].sum() / sizes[scored, group].sum() for group in (0, 1))
        assert best.of_best(best.rises)[row, fold] == pytest.approx(others - called)
        # No other head beats the offset.
        assert np.argwhere(best.leads[row, fold] > 0).tolist() == [list(FOUND[relation])]


def test_halves_that_choose_differently_are_looked_at_with_the_head_of_the_other():
    """Objects are found by one head in the sentences of odd index, and by another in those of even index."""
    arcs, odd = planted(), np.repeat(np.arange(len(SEPARATED)) % 2, LENGTH) > 0
    guess, at = arcs.guess.copy(), FOUND["obj"]
    guess[~odd, 1, 0], guess[~odd, at[0], at[1]] = guess[~odd, at[0], at[1]], -1
    arcs = replace(arcs, guess=guess)
    best, row = elsewhere({"file": SEPARATED}, {"file": arcs}, "obj")
    table = measure_relations({"file": SEPARATED}, {"file": arcs}, least=5).best
    rows = table.query("annotation == 'universal' and relation == 'obj'").set_index("chosen")
    assert rows["head"].isna().to_dict() == {"file": False, "halves": True}
    # Each half is scored with the head that finds the objects of the other.
    assert rows.loc["halves", "accuracy"] == 0 < rows.loc["file", "accuracy"]
    assert best.chosen[row, :, :2].tolist() == [list(at), [1, 0]]
    of_odd, of_even = (arcs.to_sep[:, layer, head].astype(float) for layer, head in (at, (1, 0)))
    looks = np.nanmean(of_odd[odd]), np.nanmean(of_even[~odd])
    assert best.of_best(best.looks)[row] == pytest.approx(looks)
    words = best.to_sep[:, row, :2].sum(1)
    assert words[::2].sum() == pytest.approx(np.nansum(of_odd[~odd]))
    assert words[1::2].sum() == pytest.approx(np.nansum(of_even[odd]))


def test_the_table_of_best_heads_says_how_much_its_words_look():
    arcs = planted()
    table = measure_relations({"file": SEPARATED}, {"file": arcs}, least=5).best
    row = table.query("annotation == 'universal' and relation == 'obj' and chosen == 'file'").iloc[0]
    sums, sizes = (each.sum(0) for each in counted("obj", arcs.to_sep))
    for group, name in enumerate(("to_sep", "to_sep_others")):
        assert row[name] == pytest.approx(100 * sums[group] / sizes[group])
        assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
    everything = table.query("relation == 'all' and chosen == 'file'").iloc[0]
    # No other words are left.
    assert everything["direction"] == FORWARD
    assert everything[["to_sep_others", "to_sep_others_low"]].isna().all()


PARSED = [
    tagged_sentence(
        *("The DET DT 2 det", "man NOUN NN 4 nsubj:pass", "was AUX VBD 4 aux:pass", "seen VERB VBN 0 root"),
        ". PUNCT . 4 punct",
    ),
    tagged_sentence("Yes INTJ UH 0 root"),
    tagged_sentence("He PRON PRP 2 nsubj", "ran VERB VBD 0 root", "home NOUN NN 2 obj"),
]


def test_the_rows_are_labels_universal_relations_with_subtypes_and_totals():
    rows = universal_pairs(PARSED)
    assert list(rows) == [
        *("all", "without punctuation", "without punctuation and root"),
        *("aux:*", "aux:pass", "det", "nsubj", "nsubj:*", "nsubj:pass", "obj", "punct", "root"),
    ]
    pairs = {name: list(zip(row.words.tolist(), row.heads.tolist(), strict=True)) for name, row in rows.items()}
    assert pairs["nsubj:*"] == [(1, 4), (6, 2)]
    assert pairs["root"] == [(3, 0), (5, 0), (7, 0)]
    assert pairs["without punctuation and root"] == [(0, 2), (1, 4), (2, 4), (6, 2), (8, 2)]
    assert len(rows["without punctuation"].words) == 8
    of_stanford = {name: list(row.words) for name, row in stanford_pairs(PARSED).items()}
    assert of_stanford == {"det": [0], "nsubjpass": [1], "auxpass": [2], "nsubj": [6], "dobj": [8]}


def test_an_offset_that_leaves_the_sentence_guesses_nothing_and_never_the_root():
    by_offset = dict(zip(OFFSETS, offset_guesses(PARSED).T.tolist(), strict=True))
    assert by_offset[1] == [2, 3, 4, 5, -1, -1, 2, 3, -1]
    assert by_offset[-2] == [-1, -1, 1, 2, 3, -1, -1, -1, 1]


def test_offsets_are_scored_on_the_file_its_halves_and_the_test_file():
    names = ["part", "annotation", "relation", "offset"]
    table = measure_offsets({"file": PARSED, "test": PARSED[:1]}).set_index(names)
    assert table.loc[("file", "universal", "all", 1)].tolist() == [9, pytest.approx(100 * 3 / 9)]
    assert table.loc[("even", "universal", "all", 1)].tolist() == [8, pytest.approx(100 * 3 / 8)]
    assert table.loc[("odd", "universal", "all", 1)].tolist() == [1, 0]
    assert table.loc[("test", "universal", "nsubj:*", 2)].tolist() == [1, 100]
    assert table.loc[("file", "stanford", "dobj", -1)].tolist() == [1, 100]
    assert set(table.index.get_level_values("offset")) == {-3, -2, -1, 1, 2, 3}
    assert "test" not in set(measure_offsets({"file": PARSED}).part)


# Words as `form upos xpos head relation [lemma]`; and of each name its pairs, word whose guess counts - right guess.
DERIVED = {
    "what is renamed at most": (
        "The DET DT 4 det | three NUM CD 4 nummod | old ADJ JJ 4 amod | men NOUN NNS 6 nsubj | quickly ADV RB 6 "
        "advmod | gave VERB VBD 0 root | up ADP RP 6 compound:prt | hope NOUN NN 6 obj",
        "det 1-4 | num 2-4 | amod 3-4 | nsubj 4-6 | advmod 5-6 | prt 7-6 | dobj 8-6",
    ),
    "clauses": (
        "It PRON PRP 4 nsubj:pass | was AUX VBD 4 aux:pass | not PART RB 4 advmod | said VERB VBN 0 root say | that"
        " SCONJ IN 7 mark | snow NOUN NN 7 nsubj | falls VERB VBZ 4 ccomp | lying VERB VBG 6 acl | which PRON WDT "
        "10 nsubj | melts VERB VBZ 6 acl:relcl | while SCONJ IN 12 mark | waiting VERB VBG 10 advcl",
        "nsubjpass 1-4 | auxpass 2-4 | neg 3-4 | mark 5-7 11-12 | nsubj 6-7 9-10 | ccomp 7-4 | partmod 8-6 | rcmod "
        "10-6 | advcl 12-10",
    ),
    "the infinitive's to is aux": (
        "She PRON PRP 3 nsubj | would AUX MD 3 aux | like VERB VB 0 root | to PART TO 5 mark | be AUX VB 3 xcomp",
        "nsubj 1-3 | aux 2-3 4-5 | xcomp 5-3",
    ),
    "negations by lemma, or by form": (
        "Never ADV RB 2 advmod never | say VERB VB 0 root | n't PART RB 2 advmod not | N'T PART RB 2 advmod _ | "
        "soon ADV RB 2 advmod",
        "neg 1-2 3-2 | advmod 4-2 5-2",
    ),
    "a copula and an apposition": (
        "Ada PROPN NNP 4 nsubj | is AUX VBZ 4 cop | my PRON PRP$ 4 nmod:poss | friend NOUN NN 0 root | Bo PROPN NNP"
        " 4 appos",
        "nsubj 1-4 | cop 2-4 | poss 3-4 | poss* 3-4 | appos 5-4",
    ),
    "nn: nouns and names before their head": (
        "stone NOUN NN 3 compound | Thorn PROPN NNP 3 compound | bridge NOUN NN 0 root | seven NUM CD 3 compound | "
        "B PROPN NNP 3 compound",
        "nn 1-3 2-3",
    ),
    "of a possessive mark, the guess counts in a row of its own": (
        # A possessive mark is not a preposition; at the end of a sentence nothing follows.
        "Ada PROPN NNP 3 nmod:poss | 's PART POS 1 case | house NOUN NN 0 root | boys NOUN NNS 7 nmod:poss | s' "
        "PART POS 4 case | own ADJ JJ 7 amod | dog NOUN NN 3 list | hers PRON PRP 7 nmod:poss",
        "poss 1-3 4-7 8-7 | poss* 2-3 5-7 8-7 | amod 6-7",
    ),
    "prepositions: the object and the last, the first and what is modified": (
        "out ADP IN 3 case | of ADP IN 3 case | town NOUN NN 5 obl | he PRON PRP 5 nsubj | went VERB VBD 0 root | "
        "with ADP IN 7 case | friends NOUN NNS 5 obl:with | from ADP IN 9 case | home NOUN NN 7 nmod | on ADP IN 9 "
        "case",
        "nsubj 4-5 | pobj 3-2 7-6 9-8 | prep 1-5 6-5 8-7",
    ),
    "objects that modify nothing have no prep": (
        "It PRON PRP 4 nsubj | is AUX VBZ 4 cop | for ADP IN 4 case | him PRON PRP 0 root | of ADP IN 6 case | hers"
        " PRON PRP 4 nmod:poss",
        "nsubj 1-4 | cop 2-4 | pobj 4-3 6-5 | poss 6-4 | poss* 6-4",
    ),
    "subtypes that Stanford has as other relations, and what is not derived": (
        "all DET PDT 2 det:predet | towns NOUN NNS 0 root | and CCONJ CC 4 cc | Upper PROPN NNP 2 conj | York PROPN"
        " NNP 4 flat | today NOUN NN 2 obl:unmarked",
        "",
    ),
}


def words_of(name: str):
    return tagged_sentence(*DERIVED[name][0].split(" | "))


def by_name(pairs) -> set[str]:
    collected = defaultdict(str)
    for name, word, head in pairs:
        collected[name] += f" {word}-{head}"
    return {name + of_name for name, of_name in collected.items()}


@pytest.mark.parametrize("name", DERIVED)
def test_relations_are_derived_as_the_table_says(name):
    assert by_name(derived(words_of(name))) == set(filter(None, DERIVED[name][1].split(" | ")))


def test_without_xpos_nothing_is_derived_that_needs_it():
    for name, left in {"the infinitive's": {"nsubj 1-3", "xcomp 5-3"}, "prepositions:": {"nsubj 4-5"}}.items():
        (words,) = (words_of(each) for each in DERIVED if each.startswith(name))
        assert by_name(derived(words, tagged=False)) == left


def test_without_lemmas_the_forms_tell_negations():
    words = tagged_sentence("Not PART RB 2 advmod", "n't PART RB 2 advmod", "now ADV RB 2 advmod")
    assert by_name(derived(replace(words, lemmas=("", "", "")))) == {"neg 1-2 2-2", "advmod 3-2"}
