"""Mentions, their parts of documents, baselines and heads' guesses at antecedents, by hand and by the definition."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.coreference.accuracy import (
    BASELINES,
    WordFeatures,
    is_right,
    measure_coreference,
    nearest_other,
    references,
    type_of,
)
from headtypes.analyses.coreference.measure import AntecedentReducer
from headtypes.analyses.coreference.mentions import (
    CANDIDATES,
    AntecedentGuesses,
    anaphors,
    head_by_parse,
    head_word_of,
    parts_of,
    spans_of,
)
from headtypes.data.kinds.coreference import AnnotatedDocument, AnnotatedSentence, Mention
from tests.support.conllu import sentence
from tests.support.word_maps import dense_words, random_maps, read_planted, tokens_of


def of_lengths(*lengths: int) -> AnnotatedDocument:
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
    found = parts_of(of_lengths(*lengths), [1] * sum(lengths), room, "chunks")
    assert [(part.start, part.stop) for part in found] == expected


def test_a_word_that_has_no_room_is_in_no_part():
    assert parts_of(of_lengths(4, 2), [1, 9, 1, 9, 1, 1], 3, "chunks") == [range(1), range(2, 3), range(4, 6)]
    assert parts_of(of_lengths(4, 2), [9, 1, 1, 1, 1, 1], 3, "first") == []


@pytest.mark.parametrize("seed", range(20))
def test_chunks_hold_every_word_once_and_no_more_than_there_is_room_for(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 12, size=8).tolist()
    subwords, room = rng.integers(0, 5, size=sum(lengths)).tolist(), 10
    text = of_lengths(*lengths)
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
    # The cut is inside of `these keys`.
    assert references(DOCUMENT, range(26))[-1].start == 22
    assert references(DOCUMENT, range(26, 28)) == []
    later = references(DOCUMENT, range(13, 28))
    assert [(mention.start, mention.end, mention.head) for mention in later[:2]] == [(0, 1, 1), (3, 3, 3)]
    # Before the cut, `her` had two antecedents.
    assert [anaphor.mention.start for anaphor in anaphors(later)] == [9, 12]


def test_a_mention_whose_head_word_has_no_subword_is_left_out():
    found = references(DOCUMENT, WHOLE, unread=[8])
    assert [each.start for each in found] == [each.start for each in MENTIONS if each.start != 6]


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
    # With a parse it follows from that.
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


def document(name: str, text: str, upos: str, mentions: list[tuple[int, int, str]]) -> AnnotatedDocument:
    words = tuple(text.split())
    none = ("",) * len(words)
    sentence = AnnotatedSentence(words, None, None, tuple(upos.split()), none, none, None, none)
    return AnnotatedDocument(name, (sentence,), tuple(Mention(*each) for each in mentions), 0)


DOCUMENTS = [
    document(
        "ann", "Ann met Bob . She saw him , and Ann left the man", "PROPN VERB PROPN PUNCT PRON VERB PRON PUNCT CCONJ "
        "PROPN VERB DET NOUN", [(0, 0, "a"), (2, 2, "b"), (4, 4, "a"), (6, 6, "b"), (9, 9, "a"), (11, 12, "b")],
    ),
    document("dog", "A dog ran . It ran far", "DET NOUN VERB PUNCT PRON VERB ADV", [(0, 1, "d"), (4, 4, "d")]),
    document("cat", "The cat , the cat", "DET NOUN PUNCT DET NOUN", [(0, 1, "c"), (3, 4, "c")]),
]  # fmt: skip
ANAPHORS = [anaphors(spans_of(each, range(len(each.words)))) for each in DOCUMENTS]
SUBWORDS = [(1, 1, 2, 1, 1, 3, 1, 1, 1, 2, 1, 1, 4), (1, 5, 1, 1, 1, 1, 2), (1, 1, 1, 1, 1)]


def candidates_of(anaphor, words: int, causal: bool) -> list[list[int]]:
    head = anaphor.mention.head
    sets = [[j for j in range(words) if j != head], list(range(head)), anaphor.candidate_heads]
    return [[j for j in each if not causal or j < head] for each in sets]


@pytest.mark.parametrize("causal", [False, True], ids=["", "causal"])
@pytest.mark.parametrize("rows", [32, 1])
def test_the_word_that_is_looked_at_most_among_the_candidates(causal, rows, monkeypatch):
    if rows == 1:
        monkeypatch.setattr("headtypes.attention.hook._BLOCK_PAIRS", 1)
        monkeypatch.setattr("headtypes.attention.hook.LEAST_ROWS", 1)
    rng = np.random.default_rng(3)
    tokens = [tokens_of(subwords) for subwords in SUBWORDS]
    maps = [random_maps(len(each), rng, causal=causal) for each in tokens]
    found = read_planted(AntecedentReducer(tokens, ANAPHORS), maps, causal)
    for guess, planted, word_of_token, of_document in zip(found, maps, tokens, ANAPHORS, strict=True):
        assert guess.shape == (len(of_document), 2, 3, len(CANDIDATES))
        words = dense_words(planted, word_of_token)[..., 1:-1, 1:-1]
        for number, anaphor in enumerate(of_document):
            for index, allowed in enumerate(candidates_of(anaphor, words.shape[-1], causal)):
                row = words[..., anaphor.mention.head, :][..., allowed]
                expected = np.array(allowed)[row.argmax(-1)] if allowed else np.full(row.shape[:2], -1)
                np.testing.assert_array_equal(guess[number, ..., index], expected)


def guesses_of(guess) -> AntecedentGuesses:
    """Guesses by two heads of one layer: what `guess` says of the anaphor, and nothing."""
    found = [anaphor for of_document in ANAPHORS for anaphor in of_document]
    stop = [len(each.words) for each in DOCUMENTS]
    return AntecedentGuesses(
        document=np.arange(3, dtype=np.int32),
        start=np.zeros(3, np.int32),
        stop=np.array(stop, np.int32),
        unread=np.zeros((0, 2), np.int32),
        part=np.repeat(np.arange(3, dtype=np.int32), [len(each) for each in ANAPHORS]),
        mention=np.array([(each.mention.start, each.mention.end) for each in found], np.int32),
        guess=np.array([[[[guess(each)] * 3, [-1] * 3]] for each in found], np.int16),
    )


def row(table: pd.DataFrame, **named) -> pd.Series:
    for name, value in named.items():
        table = table[table[name] == value]
    (found,) = table.to_dict("records")
    return found


def test_right_is_the_head_word_of_an_antecedent():
    # The head always guesses the first word: right for Ann's mentions, and for no other.
    table, _ = measure_coreference(DOCUMENTS, guesses_of(lambda anaphor: 0))
    best = row(table, system="best_head", candidates="words", type="all", chosen="documents")
    # Six mentions have antecedents: she, him, Ann, the man; it; the cat.
    assert (best["layer"], best["head"], best["mentions"], best["documents"]) == (0, 0, 6, 3)
    assert best["accuracy"] == pytest.approx(100 * 2 / 6)
    pronouns = row(table, system="best_head", candidates="mentions", type="pronoun", chosen="documents")
    assert (pronouns["mentions"], pronouns["accuracy"]) == (3, pytest.approx(100 / 3))
    assert row(table, system="head", candidates="words", type="all", head=1)["accuracy"] == 0


def test_baselines_stand_on_the_same_mentions_and_differences_pair_them():
    table, _ = measure_coreference(DOCUMENTS, guesses_of(lambda anaphor: 0))
    # Nearest: she - Bob, him - she, Ann - him, the man - Ann; it - dog; the cat - cat.
    nearest = row(table, system="nearest", type="all")
    assert nearest["accuracy"] == pytest.approx(100 * 2 / 6)
    # The same word: Ann and the cat.
    match = row(table, system="head_match", type="all")
    assert match["accuracy"] == pytest.approx(100 * 2 / 6)
    best = row(table, system="best_head", candidates="words", type="all", chosen="documents")
    for name in ("nearest", "head_match", "rules"):
        expected = best["accuracy"] - row(table, system=name, type="all")["accuracy"]
        assert best[f"above_{name}"] == pytest.approx(expected)
        # So few documents say nothing of others.
        assert np.isnan(best[f"above_{name}_low"])
    chances = [1 / 2, 1 / 3, 2 / 4, 2 / 5, 1, 1]
    assert row(table, system="chance", type="all")["accuracy"] == pytest.approx(100 * np.mean(chances))


def test_each_half_of_the_documents_is_scored_with_the_choice_of_the_other():
    guesses = guesses_of(lambda anaphor: min(anaphor.antecedents))
    # The first head knows the even documents, the second one the odd document.
    odd, found = guesses.part == 1, len(guesses.part)
    swapped = np.where(odd[:, None, None, None], guesses.guess[:, :, ::-1], guesses.guess)
    table, _ = measure_coreference(DOCUMENTS, replace(guesses, guess=swapped))
    halves = row(table, system="best_head", candidates="words", type="all", chosen="halves")
    assert (halves["mentions"], halves["accuracy"]) == (found, 0)
    assert pd.isna(halves["head"])
    whole = row(table, system="best_head", candidates="words", type="all", chosen="documents")
    assert whole["accuracy"] == pytest.approx(100 * (found - 1) / found)
