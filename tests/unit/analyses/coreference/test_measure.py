"""Guesses at antecedents are those of the definition, among each of three sets of candidates."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.coreference.accuracy import measure_coreference
from headtypes.analyses.coreference.measure import AntecedentReducer
from headtypes.analyses.coreference.mentions import CANDIDATES, AntecedentGuesses, anaphors, spans_of
from headtypes.data.kinds.coreference import AnnotatedDocument, AnnotatedSentence, Mention
from tests.support.word_maps import dense_words, random_maps, read_planted, tokens_of


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
