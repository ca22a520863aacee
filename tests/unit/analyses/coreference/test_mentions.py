"""Parts of documents, mentions and baselines of coreference: by hand, and against a second program."""

import numpy as np
import pytest

from headtypes.analyses.coreference.accuracy import (
    BASELINES,
    WordFeatures,
    is_right,
    nearest_other,
    references,
    type_of,
)
from headtypes.analyses.coreference.mentions import anaphors, head_by_parse, head_word_of, parts_of
from headtypes.data.kinds.coreference import AnnotatedDocument, AnnotatedSentence, Mention
from tests.support.conllu import sentence


def document(*lengths: int) -> AnnotatedDocument:
    """A document of sentences of so many words."""
    return AnnotatedDocument("d", tuple(annotated(*["w X X 0 root"] * length) for length in lengths), (), 0)


@pytest.mark.parametrize(
    ("lengths", "room", "expected"),
    [
        ([2, 2, 2], 4, [(0, 4), (4, 6)]),
        # A sentence is not cut to fill a part.
        ([2, 3, 1], 4, [(0, 2), (2, 6)]),
        # One that fits nowhere is cut, and what is left of it is continued.
        ([1, 7, 1, 3], 3, [(0, 1), (1, 4), (4, 7), (7, 9), (9, 12)]),
        ([2, 2], 9, [(0, 4)]),
    ],
)
def test_chunks_are_whole_sentences_as_far_as_they_fit(lengths, room, expected):
    found = parts_of(document(*lengths), [1] * sum(lengths), room, "chunks")
    assert [(part.start, part.stop) for part in found] == expected


def test_a_word_that_has_no_room_is_in_no_part():
    assert parts_of(document(4, 2), [1, 9, 1, 9, 1, 1], 3, "chunks") == [range(1), range(2, 3), range(4, 6)]
    assert parts_of(document(4, 2), [9, 1, 1, 1, 1, 1], 3, "first") == []


@pytest.mark.parametrize("seed", range(20))
def test_chunks_hold_every_word_once_and_no_more_than_there_is_room_for(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 12, size=8).tolist()
    subwords, room = rng.integers(0, 5, size=sum(lengths)).tolist(), 10
    text = document(*lengths)
    parts = parts_of(text, subwords, room, "chunks")
    assert [word for part in parts for word in part] == list(range(sum(lengths)))
    assert max(sum(subwords[word] for word in part) for part in parts) <= room
    # A sentence that has room is in one part.
    ends = np.cumsum(lengths)
    for start, end in zip(ends - lengths, ends, strict=True):
        if sum(subwords[start:end]) <= room:
            assert any(part.start <= start and end <= part.stop for part in parts)
    first = parts_of(text, subwords, room, "first")
    assert first == [range(first[0].stop)]
    assert sum(subwords[: first[0].stop]) <= room < sum(subwords[: first[0].stop + 1])


# Words as `piece tag`, and spans with the place of their head word.
PHRASES = {
    "the last noun": (["(TOP(NP* DT", "* JJ", "* NN", "*) NN", "*) ."], {(0, 4): 3}),
    "a possessive mark at the end": (["(NP* NNP", "*) POS"], {(0, 2): 1}),
    "the first noun phrase inside": (["(NP(NP* DT", "*) NN", "(PP* IN", "(NP* DT", "*))) NNP"], {(0, 5): 1, (3, 5): 4}),
    "nouns come before noun phrases": (["(NP(NP* NNP", "*) POS", "* NN", "*) RB"], {(0, 4): 2, (0, 2): 1}),
    "dollars": (["(NP* $", "* CD", "*) CD"], {(0, 3): 0}),
    "numbers before adjectives": (["(NP* DT", "* CD", "*) JJS"], {(0, 3): 1}),
    "the last adjective": (["(NP* DT", "* JJ", "* JJ", "*) DT"], {(0, 4): 2}),
    "a phrase of adjectives": (["(NP* DT", "(ADJP* RB", "*) JJ", "*) CD"], {(0, 4): 2}),
    "else the last word": (["(NP* DT", "*) PRP"], {(0, 2): 1}),
    "functions of labels do not count": (["(S(NP-SBJ(NP-TMP* DT", "*) DT", "(PP* IN", "*))) DT"], {(0, 4): 1}),
    "one word": (["(S(NP*) PRP", "(VP* VBD", "(NP*))) PRP"], {(0, 1): 0, (2, 3): 2}),
    "no constituent": (["(NP* DT", "* JJ", "* NN", "(PP* IN", "(NP*))) NN"], {(1, 3): 2, (1, 4): 2, (2, 5): 2}),
}


@pytest.mark.parametrize("name", PHRASES)
def test_the_head_of_a_noun_phrase(name):
    words, heads = PHRASES[name]
    parse, tags = zip(*(word.split() for word in words), strict=True)
    assert {span: head_by_parse(parse, tags, *span) for span in heads} == heads


def annotated(*words: str, **more) -> AnnotatedSentence:
    """A sentence from `form upos xpos head relation` of each word; more: what stands in for that."""
    read = sentence(*words)
    nothing = ("",) * len(words)
    fields = {name: getattr(read, name) for name in ("words", "heads", "relations", "upos", "xpos")}
    return AnnotatedSentence(**(fields | {"numbers": nothing, "parse": None, "speakers": nothing} | more))


# You smiled. Ada Stone met the old king and his sons. The king gave her the keys. They thanked Ada Stone for these
# keys.
SENTENCES = (
    annotated("You PRON PRP 2 nsubj", "smiled VERB VBD 0 root", ". PUNCT . 2 punct"),
    annotated(
        *("Ada PROPN NNP 3 nsubj", "Stone PROPN NNP 1 flat", "met VERB VBD 0 root"),
        *("the DET DT 6 det", "old ADJ JJ 6 amod", "king NOUN NN 3 obj", "and CCONJ CC 9 cc"),
        *("his PRON PRP$ 9 nmod:poss", "sons NOUN NNS 6 conj", ". PUNCT . 3 punct"),
    ),
    annotated(
        *("The DET DT 2 det", "king NOUN NN 3 nsubj", "gave VERB VBD 0 root", "her PRON PRP 3 iobj"),
        *("the DET DT 6 det", "keys NOUN NNS 3 obj", ". PUNCT . 3 punct"),
    ),
    annotated(
        *("They PRON PRP 2 nsubj", "thanked VERB VBD 0 root", "Ada PROPN NNP 2 obj", "Stone PROPN NNP 3 flat"),
        *("for ADP IN 7 case", "these DET DT 7 det", "keys NOUN NNS 2 obl", ". PUNCT . 2 punct"),
    ),
)
# A pronoun before its name (0), and mentions inside of a mention, two of which have one head word (8).
MENTIONS = (
    *(Mention(0, 0, "ada"), Mention(3, 4, "ada"), Mention(6, 11, "court"), Mention(6, 8, "king")),
    *(Mention(10, 10, "king"), Mention(10, 11, "sons"), Mention(13, 14, "king"), Mention(16, 16, "ada")),
    *(Mention(17, 18, "keys"), Mention(20, 20, "court"), Mention(22, 23, "ada"), Mention(25, 26, "keys")),
)
DOCUMENT = AnnotatedDocument("d", SENTENCES, MENTIONS, 0)
WHOLE = range(len(DOCUMENT.words))


def test_the_heads_types_and_features_of_twelve_mentions():
    found = references(DOCUMENT, WHOLE)
    assert [mention.head for mention in found] == [0, 3, 8, 8, 10, 11, 14, 16, 18, 20, 22, 26]
    assert [mention.head_word for mention in found][:4] == ["you", "ada", "king", "king"]
    assert [mention.type for mention in found] == [
        *("pronoun", "proper", "nominal", "nominal", "pronoun", "nominal"),
        *("nominal", "pronoun", "nominal", "pronoun", "proper", "nominal"),
    ]
    features = [mention.features for mention in found]
    # The king and his sons are several, the king among them is one.
    assert [number for number, *_ in features] == [
        *(None, "singular", "plural", "singular", "singular", "plural"),
        *("singular", "singular", "plural", "plural", "singular", "plural"),
    ]
    assert [gender for _, gender, _ in features] == [
        *(None, None, "male", "male", "male", None, "male", "female", None, None, None, None)
    ]
    assert [person for *_, person in features] == [2] + [3] * 11


HEAD_WORDS = [0, 3, 8, 10, 11, 14, 16, 18, 20, 22]
# Start of a coreferent mention: head words of its antecedents; how many of `HEAD_WORDS` are of candidates; what
# baselines choose, by start and end; and which are right.
EXPECTED = {
    # None agrees with a second person, so the last sieve chooses.
    3: ({0}, 1, {"nearest": (0, 0), "rules": (0, 0)}, "nearest rules"),
    # What is not over yet is not a candidate. The third sieve: a king is male.
    10: ({8}, 3, {"nearest": (6, 8), "rules": (6, 8)}, "nearest rules"),
    # Of two with one head word the longer is chosen, by the second sieve too.
    13: ({8, 10}, 5, {"nearest": (10, 11), "head_match": (6, 11), "rules": (6, 11)}, ""),
    # The third sieve passes over kings and what is plural; whether Ada Stone is female is not known.
    16: ({0, 3}, 6, {"nearest": (13, 14), "rules": (3, 4)}, "rules"),
    # The keys are plural and nearer.
    20: ({8}, 8, {"nearest": (17, 18), "rules": (17, 18)}, ""),
    # The first sieve.
    22: ({0, 3, 16}, 9, {"nearest": (20, 20), "head_match": (3, 4), "rules": (3, 4)}, "head_match rules"),
    # The second sieve: these keys are the keys.
    25: ({18}, 10, {"nearest": (22, 23), "head_match": (17, 18), "rules": (17, 18)}, "head_match rules"),
}


def test_the_candidates_of_twelve_mentions_and_what_the_baselines_choose():
    found = {anaphor.mention.start: anaphor for anaphor in anaphors(references(DOCUMENT, WHOLE))}
    assert list(found) == list(EXPECTED)
    for start, (antecedents, candidates, choices, right) in EXPECTED.items():
        assert (found[start].antecedents, found[start].candidate_heads) == (antecedents, HEAD_WORDS[:candidates])
        for name, choose in BASELINES.items():
            chosen = choose(found[start])
            assert (chosen and (chosen.start, chosen.end)) == choices.get(name), name
            assert is_right(found[start], chosen) == (name in right.split()), name


def test_a_mention_across_the_cut_is_in_no_part_and_words_are_counted_from_it():
    # The cut is inside of `these keys`; the second part begins there.
    first, second = range(26), range(26, 28)
    assert [mention.start for mention in references(DOCUMENT, first)][-1] == 22
    assert references(DOCUMENT, second) == []
    later = references(DOCUMENT, range(13, 28))
    assert [(mention.start, mention.end, mention.head) for mention in later[:2]] == [(0, 1, 1), (3, 3, 3)]
    # Before the cut, `her` had two antecedents.
    assert [anaphor.mention.start for anaphor in anaphors(later)] == [9, 12]


def test_a_mention_whose_head_word_has_no_subword_is_left_out():
    assert [mention.start for mention in references(DOCUMENT, WHOLE, unread=[8])] == [
        mention.start for mention in MENTIONS if mention.start != 6
    ]


def test_the_nearest_other_mention_may_follow():
    found = anaphors(references(DOCUMENT, WHOLE))
    chosen = {anaphor.mention.start: nearest_other(anaphor) for anaphor in found}
    expected = {3: (0, 0), 10: (10, 11), 13: (16, 16), 16: (13, 14), 20: (17, 18), 22: (20, 20), 25: (22, 23)}
    assert {start: (mention.start, mention.end) for start, mention in chosen.items()} == expected


TREE = annotated(
    *("a DET DT 2 det", "dog NOUN NN 0 root", "seen VERB VBN 2 acl", "by ADP IN 5 case", "us PRON PRP 3 obl"),
    *("then ADV RB 2 advmod", "cat NOUN NN 2 conj"),
)
NOTHING = ("",) * 7
BARE = {"heads": None, "relations": None, "upos": NOTHING}
TAGS = {"xpos": ("DT", "NN", "VBN", "IN", "PRP", "RB", "NN")}
PARSED = annotated(*["x X X 0 root"] * 7, **BARE, **TAGS, parse=("(NP(NP*", "*)", "(VP*", "(PP*", "(NP*)))", "*", "*)"))


@pytest.mark.parametrize(
    ("span", "head"), {(0, 4): 1, (2, 4): 2, (3, 4): 4, (2, 6): 2, (4, 5): 5, (3, 5): 5, (5, 6): 5}.items()
)
def test_with_a_tree_the_head_is_the_word_that_hangs_outside_nearest_to_the_root(span, head):
    assert head_word_of(TREE, *span) == head


def test_with_a_parse_the_head_follows_from_it():
    assert [head_word_of(PARSED, *span) for span in ((0, 6), (0, 4), (4, 4))] == [6, 1, 4]


@pytest.mark.parametrize(
    ("words", "head"),
    [
        *(("the mother of two", "mother"), ("of", "of"), ("That man", "man"), ("a man , who ran", "man")),
        *(("the house", "house"), ("It", "It"), ("towns -- large", "towns"), ("of the people", "people")),
        ("the day Which came", "day"),
    ],
)
def test_with_neither_the_head_stands_before_what_follows_a_noun(words, head):
    bare = annotated(*(f"{word} _ _ 0 root" for word in words.split()), heads=None, relations=None)
    assert bare.words[head_word_of(bare, 0, len(bare.words) - 1)] == head


@pytest.mark.parametrize(
    ("word", "upos", "xpos", "end", "type_"),
    [
        ("it", "PRON", "", 0, "pronoun"),
        ("Ada", "PROPN", "NN", 0, "proper"),
        ("This", "DET", "PRP", 0, "nominal"),
        ("his", "", "PRP$", 0, "pronoun"),
        ("Alps", "", "NNPS", 0, "proper"),
        ("who", "", "WP", 0, "nominal"),
        ("She", "", "", 0, "pronoun"),
        ("She", "", "", 1, "proper"),
        ("Ada", "", "", 0, "proper"),
        ("dog", "", "", 0, "nominal"),
    ],
)
def test_the_type_is_that_of_the_head_word(word, upos, xpos, end, type_):
    tags = {"upos": (upos, ""), "xpos": (xpos, "")}
    assert type_of(annotated(f"{word} X X 0 root", "x X X 1 dep", **tags), 0, end, 0) == type_


@pytest.mark.parametrize(
    ("words", "more", "features"),
    [
        ("cats _ _", {}, ("plural", None, 3)),
        ("boss _ _", {}, ("singular", None, 3)),
        ("Jones _ _", {}, ("singular", None, 3)),
        ("cats NOUN NN", {}, ("singular", None, 3)),
        ("sheep NOUN NNS", {}, ("plural", None, 3)),
        ("sheep NOUN NNS", {"numbers": ("Sing",)}, ("singular", None, 3)),
        ("scissors NOUN NN", {"numbers": ("Ptan",)}, ("plural", None, 3)),
        ("36 NUM CD", {}, (None, None, 3)),
        ("Sister PROPN NNP", {}, ("singular", "female", 3)),
        ("we PRON PRP", {"numbers": ("Sing",)}, ("plural", None, 1)),
        ("themselves PRON PRP", {}, ("plural", None, 3)),
        ("which PRON WDT", {}, (None, None, 3)),
        ("mine NOUN NN", {}, ("singular", None, 3)),
    ],
)
def test_number_gender_and_person(words, more, features):
    form, upos, xpos = (part.replace("_", "") for part in words.split())
    one = annotated(f"{form} X X 0 root", **{"upos": (upos,), "xpos": (xpos,)} | more)
    (mention,) = references(AnnotatedDocument("d", (one,), (Mention(0, 0, "a"),), 0), range(1))
    assert mention.features == WordFeatures(*features)
