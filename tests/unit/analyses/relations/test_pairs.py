"""The rows of the table of relations, Stanford's by hand, and the baselines of fixed offsets against a second count."""

import pytest

from headtypes.analyses.relations.pairs import derived, measure_offsets, offset_guesses, stanford_pairs, universal_pairs
from tests.support.conllu import sentence

SENTENCES = [
    sentence(
        "The DET DT 2 det",
        "man NOUN NN 4 nsubj:pass",
        "was AUX VBD 4 aux:pass",
        "seen VERB VBN 0 root",
        ". PUNCT . 4 punct",
    ),
    sentence("Yes INTJ UH 0 root"),
    sentence("He PRON PRP 2 nsubj", "ran VERB VBD 0 root", "home NOUN NN 2 obj"),
]


def test_the_rows_are_labels_universal_relations_with_subtypes_and_totals():
    rows = universal_pairs(SENTENCES)
    assert list(rows) == [
        *("all", "without punctuation", "without punctuation and root"),
        *("aux:*", "aux:pass", "det", "nsubj", "nsubj:*", "nsubj:pass", "obj", "punct", "root"),
    ]
    pairs = {name: list(zip(row.words.tolist(), row.heads.tolist(), strict=True)) for name, row in rows.items()}
    assert pairs["nsubj:*"] == [(1, 4), (6, 2)]
    assert pairs["root"] == [(3, 0), (5, 0), (7, 0)]
    assert pairs["without punctuation and root"] == [(0, 2), (1, 4), (2, 4), (6, 2), (8, 2)]
    assert len(rows["without punctuation"].words) == 8
    assert {name: list(row.words) for name, row in stanford_pairs(SENTENCES).items()} == {
        "det": [0],
        "nsubjpass": [1],
        "auxpass": [2],
        "nsubj": [6],
        "dobj": [8],
    }


def test_an_offset_that_leaves_the_sentence_guesses_nothing_and_never_the_root():
    assert offset_guesses(SENTENCES, 1).tolist() == [2, 3, 4, 5, -1, -1, 2, 3, -1]
    assert offset_guesses(SENTENCES, -2).tolist() == [-1, -1, 1, 2, 3, -1, -1, -1, 1]


def test_offsets_are_scored_on_the_file_its_halves_and_the_test_file():
    table = measure_offsets(SENTENCES, SENTENCES[:1]).set_index(["part", "annotation", "relation", "offset"])
    assert table.loc[("file", "universal", "all", 1)].tolist() == [9, pytest.approx(100 * 3 / 9)]
    assert table.loc[("even", "universal", "all", 1)].tolist() == [8, pytest.approx(100 * 3 / 8)]
    assert table.loc[("odd", "universal", "all", 1)].tolist() == [1, 0]
    assert table.loc[("test", "universal", "nsubj:*", 2)].tolist() == [1, 100]
    assert table.loc[("file", "stanford", "dobj", -1)].tolist() == [1, 100]
    assert set(table.index.get_level_values("offset")) == {-3, -2, -1, 1, 2, 3}
    assert "test" not in set(measure_offsets(SENTENCES).part)


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
    return sentence(*DERIVED[name][0].split(" | "))


def by_name(pairs) -> set[str]:
    """As in `DERIVED`: of each name its pairs."""
    collected: dict[str, list[str]] = {}
    for name, word, head in pairs:
        collected.setdefault(name, [name]).append(f"{word}-{head}")
    return {" ".join(of_name) for of_name in collected.values()}


@pytest.mark.parametrize("name", DERIVED)
def test_relations_are_derived_as_the_table_says(name):
    assert by_name(derived(words_of(name))) == set(filter(None, DERIVED[name][1].split(" | ")))


def test_without_xpos_nothing_is_derived_that_needs_it():
    words = words_of("the infinitive's to is aux")
    assert by_name(derived(words, tagged=False)) == {"nsubj 1-3", "xcomp 5-3"}
    words = words_of("prepositions: the object and the last, the first and what is modified")
    assert by_name(derived(words, tagged=False)) == {"nsubj 4-5"}


def test_without_lemmas_the_forms_tell_negations():
    words = sentence("Not PART RB 2 advmod", "n't PART RB 2 advmod", "now ADV RB 2 advmod")
    bare = type(words)(words.id, words.words, words.heads, words.relations, words.upos, words.xpos, ("", "", ""))
    assert by_name(derived(bare)) == {"neg 1-2 2-2", "advmod 3-2"}
