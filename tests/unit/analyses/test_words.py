"""Words have the tokens that they have in a text; their attention equals its definition, however rows are cut."""

import numpy as np
import pytest
import torch

from headtypes.analyses.coreference.measure import extract_antecedents
from headtypes.analyses.probes.measure import train_probes
from headtypes.analyses.relations.accuracy import measure_relations
from headtypes.analyses.relations.guesses import ArcGuesses
from headtypes.analyses.relations.measure import Guesses, extract_arcs
from headtypes.analyses.words import WordMaps, encode_sentences, encode_words, indices_of, special_tokens
from headtypes.core.errors import InputError
from headtypes.core.hdf5_files import read_groups, write_arrays
from headtypes.data.kinds.coreference import AnnotatedDocument, AnnotatedSentence, Mention
from headtypes.papers.clark2019.tables import relation_tables, relations_page, relations_table
from tests.support.clark_results import PUBLISHED
from tests.support.models import plain_attentions, tiny_bert, tiny_family
from tests.support.records import recorded
from tests.support.tiny import bert_tokenizer, gpt2_tokenizer, llama_tokenizer, roberta_tokenizer
from tests.support.word_maps import dense_words, random_maps, read_planted, sentence, tokens_of


# [word, layer, head, direction]: the best, and by how much it beats the second.
def dense_guesses(words: np.ndarray, causal: bool = False) -> tuple[np.ndarray, np.ndarray]:
    layers, heads, count = *words.shape[:2], words.shape[-1] - 2
    guess = np.full((count, layers, heads, 2), -1)
    margin = np.full(guess.shape, np.inf)
    for index in np.ndindex(layers, heads):
        between = words[index][1:-1, 1:-1]
        for i in range(count):
            for direction, row in enumerate((between[i], between[:, i])):
                seen = [j for j in range(count) if j != i and not (causal and (j > i) == (direction == 0))]
                order = sorted(seen, key=lambda j, row=row: -row[j])
                if order:
                    guess[i, *index, direction] = order[0] + 1
                if len(order) > 1:
                    margin[i, *index, direction] = row[order[0]] - row[order[1]]
    return guess, margin


KNOWN = ["the", "cat", "sat"]
MAKERS = {
    "bert": (bert_tokenizer, 1, 1), "roberta": (roberta_tokenizer, 1, 1),
    "gpt2": (gpt2_tokenizer, 0, 0), "llama": (llama_tokenizer, 1, 0),
}  # fmt: skip


@pytest.mark.parametrize(("make", "before", "behind"), MAKERS.values(), ids=MAKERS)
def test_words_are_joined_by_single_spaces(make, before, behind):
    tokenizer = make(KNOWN)
    words = ["the", "cats", "sat", "the"]
    ids, word_of = encode_words(tokenizer, words)
    text = tokenizer(" the cats sat the", add_special_tokens=False)["input_ids"]
    assert ids[before : len(ids) - behind] == text
    assert ids == tokenizer(" the cats sat the")["input_ids"]
    assert list(map(len, special_tokens(tokenizer))) == [before, behind]
    inner = word_of[before : len(ids) - behind]
    assert [-1] * before + inner + [-1] * behind == word_of
    # Three are one subword each; the plural has a subword or more of its own.
    assert inner[0] == 0
    assert inner[-2:] == [2, 3]
    assert inner[1:-2] == [1] * (len(text) - 3)


def test_a_word_without_a_subword_is_that_of_no_token():
    _, word_of = encode_words(bert_tokenizer(KNOWN), ["the", "\u200b", "cat"])
    assert word_of == [-1, 0, 2, -1]


# Subwords of each word: up to five, whole sentences of one and of two words, and two of one length.
SPLIT = [(1, 3, 1, 5, 2), (1,), (2,), (1, 1), (4, 1), (1, 1, 1), (2, 1, 1, 1, 1, 1, 3, 2)]
ENDS = {"both": (1, 1), "none": (0, 0), "only before": (1, 0), "two behind": (1, 2)}


@pytest.fixture(params=[(2**16, 32), (1, 1), (1, 3)], ids=["whole", "rows", "threes"])
def blocks(request, monkeypatch):
    """Rows cut into blocks of different sizes, also within words."""
    pairs, rows = request.param
    monkeypatch.setattr("headtypes.attention.hook._BLOCK_PAIRS", pairs)
    monkeypatch.setattr("headtypes.attention.hook.LEAST_ROWS", rows)


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
def test_to_a_word_the_sum_and_from_a_word_the_mean(ends, blocks):
    rng = np.random.default_rng(1)
    tokens = sorted((tokens_of(split, *ends) for split in SPLIT), key=len)
    maps = [random_maps(len(each), rng) for each in tokens]
    for found, planted, word_of_token in zip(read_planted(WordMaps(tokens), maps), maps, tokens, strict=True):
        np.testing.assert_allclose(found, dense_words(planted, word_of_token), atol=1e-6)


@pytest.mark.parametrize("causal", [False, True], ids=["", "causal"])
def test_guesses_are_those_of_the_definition(causal, blocks):
    rng = np.random.default_rng(2)
    tokens = sorted(map(tokens_of, SPLIT), key=len)
    maps = [random_maps(len(each), rng, causal=causal) for each in tokens]
    for (guess, visible, to_sep), planted, word_of_token in zip(
        read_planted(Guesses(tokens), maps, causal), maps, tokens, strict=True
    ):
        dense = dense_words(planted, word_of_token)
        defined, margin = dense_guesses(dense, causal)
        assert guess.dtype == visible.dtype == np.int16
        np.testing.assert_array_equal(np.where(margin > 1e-6, guess, defined), defined)
        assert (margin <= 1e-6).sum() <= 1
        seen = np.nan if causal else dense[..., 1:-1, -1].transpose(2, 0, 1)
        np.testing.assert_allclose(to_sep, np.broadcast_to(seen, to_sep.shape), rtol=1e-3, atol=1e-6)
        assert to_sep.dtype == np.float16
        words = np.arange(1, len(guess) + 1)
        for direction in (0, 1):
            hidden = (words < words[:, None] if direction else words > words[:, None]) & causal
            ends = [
                others[[0, -1]] if len(others := words[~row & (words != word)]) else (-1, -1)
                for word, row in zip(words, hidden, strict=True)
            ]
            np.testing.assert_array_equal(visible[:, 0, direction], ends)


@pytest.mark.parametrize("ends", ENDS)
def test_to_what_ends_the_input_the_sum_and_nothing_where_nothing_does(ends, blocks):
    word_of_token = tokens_of((2, 1, 1), *ENDS[ends])
    maps = random_maps(len(word_of_token), np.random.default_rng(4))
    ((*_, to_sep),) = read_planted(Guesses([word_of_token]), [maps])
    dense = dense_words(maps, word_of_token)[..., 1:-1, -1].transpose(2, 0, 1)
    np.testing.assert_allclose(to_sep, dense if ENDS[ends][1] else np.full_like(dense, np.nan), rtol=1e-3)


def test_the_first_word_wins_a_tie(blocks):
    word_of_token = tokens_of((1, 1, 1, 1))
    maps = np.full((1, 1, 6, 6), 1 / 6)
    ((guess, *_),) = read_planted(Guesses([word_of_token]), [maps])
    assert guess[:, 0, 0].tolist() == [[2, 2], [1, 1], [1, 1], [1, 1]]


def test_a_word_alone_has_no_guess_and_none_is_the_root():
    ((guess, visible, _),) = read_planted(Guesses([tokens_of((3,))]), [random_maps(5, np.random.default_rng(0))])
    assert (guess == -1).all()
    assert (visible == -1).all()


def test_an_attention_that_is_not_finite_is_refused():
    maps = random_maps(5, np.random.default_rng(0))
    maps[1, 2, 3] = np.nan
    for reducer in (WordMaps([tokens_of((3,))]), Guesses([tokens_of((3,))])):
        with pytest.raises(InputError, match="head 2-3 is not finite"):
            read_planted(reducer, [maps])


def test_indices_count_words_as_heads_are_counted():
    assert indices_of([-1, 0, 0, 1, -1]).tolist() == [0, 1, 1, 2, 3]
    assert indices_of([0, 1]).tolist() == [1, 2]
    assert indices_of([0, -1]).tolist() == [1, 2]


SENTENCES = [
    sentence("the cat saw a dogs", (2, 3, 0, 5, 3), "det nsubj root det obj"),
    sentence("ran", (0,), "root"),
    sentence("a youngest dog ran under the houses by the river .", (3, 3, 4, 0, 7, 7, 4, 10, 10, 4, 4),
             "det amod nsubj root case det obl case det obl punct"),
    sentence("it was old", (3, 3, 0), "nsubj cop root"),
]  # fmt: skip
HOW = {"task": "trees", "max_seq_length": 40, "precision": "float32", "batch_tokens": 512}
PROBES = {"learning_rate": 0.02, "sentences": "all", "starts": 2, "root": "first", "seed": 1}
CAUSAL = {"gpt2", "llama", "mistral"}


def fetched(name: str, folder):
    model, tokenizer = tiny_bert() if name == "bert" else tiny_family(name)
    return recorded(model, tokenizer, folder), model.base_model, tokenizer


@pytest.mark.parametrize("name", ["bert", "roberta", "gpt2", "llama", "mistral", "modernbert"])
def test_guesses_of_a_model_are_those_of_its_attention(name, tmp_path):
    record, model, tokenizer = fetched(name, tmp_path)
    found = extract_arcs({"file": SENTENCES}, record, **HOW)["file"]
    assert found.sentence.tolist() == [0, 1, 2, 3]
    ends = np.cumsum(found.length)[:-1]
    encoded = encode_sentences([each.words for each in SENTENCES], tokenizer, 40, "test")
    for guess, visible, to_sep, ids, word_of in zip(
        np.split(found.guess, ends), np.split(found.visible, ends), np.split(found.to_sep, ends),
        encoded.encoded.input_ids, encoded.word_of_token,
        strict=True,
    ):  # fmt: skip
        attention = plain_attentions(model, ids, None)
        words = dense_words(attention, word_of)
        # What cannot see the end, or has none behind, is no zero.
        dense = words[..., 1:-1, -1].transpose(2, 0, 1)
        np.testing.assert_allclose(to_sep, np.where(dense > 0, dense, np.nan), atol=1e-3)
        assert np.isnan(to_sep).all() == (name in CAUSAL)
        defined, margin = dense_guesses(words, causal=name in CAUSAL)
        if name in ("mistral", "modernbert"):
            # What a local layer hides has no attention at all.
            inner = words[..., 1:-1, 1:-1]
            seen = np.stack([inner, inner.swapaxes(-1, -2)], -1).max(3).transpose(2, 0, 1, 3)
            margin = np.where(seen > 0, margin, 0)
        np.testing.assert_array_equal(np.where(margin > 1e-5, guess, defined), defined)
        assert (margin > 1e-5).mean() > 0.5 or len(guess) == 1
        if name in CAUSAL:
            assert (guess[0, ..., 0] == -1).all()
            assert (visible[-1, :, 1] == -1).all()


def test_sentences_that_are_too_long_are_left_out_not_cut(tmp_path):
    record, *_ = fetched("bert", tmp_path)
    found = extract_arcs({"file": SENTENCES, "test": SENTENCES[3:]}, record, **{**HOW, "max_seq_length": 16})
    assert found["file"].sentence.tolist() == [0, 1, 3]
    assert found["file"].length.tolist() == [5, 1, 3]
    assert len(found["test"].guess) == 3
    assert found["file"].warnings == ("Of 4 sentences, 1 with more than 16 tokens are left out.",)


def test_sentences_with_a_word_that_the_tokenizer_drops_are_counted_with_the_reason(tmp_path):
    """Such as a zero-width space that stands as a word of its own."""
    record, *_ = fetched("bert", tmp_path)
    dropped = sentence("it \u200b ran", (3, 1, 0), "nsubj dep root")
    bank = [*SENTENCES, dropped, dropped]
    found = extract_arcs({"file": bank}, record, **HOW)["file"]
    assert found.sentence.tolist() == [0, 1, 2, 3]
    said = "Of 6 sentences, 2 with a word for which the tokenizer has no token are left out."
    assert found.warnings == (said,)
    write_arrays(tmp_path / "arcs.h5", {"file": found}, {})
    best = measure_relations({"file": bank}, read_groups(tmp_path / "arcs.h5", ArcGuesses), least=1).best
    assert set(best["left_out"]) == {said}
    table = relations_table({("bert", "trees"): best}, [], PUBLISHED)
    (shown,) = relation_tables(table)
    assert shown.about == said
    assert said in relations_page(table, PUBLISHED)


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_probes_of_a_model_are_the_same_each_time_and_know_what_they_learnt(name, tmp_path):
    record, *_ = fetched(name, tmp_path)
    training = SENTENCES * 30

    def trained(**how) -> dict:
        return train_probes(training, SENTENCES, record, **HOW, **{**PROBES, "vectors": None, **how})

    found = trained()
    assert found == trained()
    # Punctuation does not count, the root does.
    assert found["words"] == [5, 1, 10, 3]
    assert found["scored"] == {"read": 4, "left_out": 0}
    assert found["training"] == {"read": 120, "left_out": 0}

    def score(of: dict, probe: str) -> float:
        return np.mean(of["right"][probe]) * 4 / 19

    assert all(np.shape(of_probe) == (2, 4) for of_probe in found["right"].values())
    # With word vectors it knows four sentences by heart.
    assert score(found, "attention_and_words") > 0.9
    assert score(found, "distance_and_words") > 0.9
    fewer = trained(sentences=4)
    assert fewer["training"]["read"] == 4
    assert score(fewer, "distance_and_words") < score(found, "distance_and_words")
    released = trained(sentences=4, root="released")
    assert released["right"]["distance_and_words"] != fewer["right"]["distance_and_words"]


def test_chunks_read_all_mentions_of_a_document_that_have_an_antecedent_in_their_chunk(tmp_path):
    record, model, tokenizer = fetched("bert", tmp_path)
    words = ("the", "dog", "ran", "it", "sat")
    none = ("",) * 5
    one = AnnotatedSentence(words, None, None, ("DET", "NOUN", "VERB", "PRON", "VERB"), none, none, None, none)
    mentions = [Mention(5 * turn + start, 5 * turn + end, "d") for turn in range(6) for start, end in ((0, 1), (3, 3))]
    document = AnnotatedDocument("dogs", (one,) * 6, tuple(mentions), 0)
    how = {**HOW, "task": "stories", "max_seq_length": 14}
    first = extract_antecedents([document], record, **how, extent="first")
    assert (first.start.tolist(), first.stop.tolist(), len(first.part)) == ([0], [12], 4)
    chunks = extract_antecedents([document], record, **how, extent="chunks")
    assert (chunks.start.tolist(), chunks.stop.tolist()) == ([0, 10, 20], [10, 20, 30])
    assert (chunks.document.tolist(), np.bincount(chunks.part).tolist()) == ([0, 0, 0], [3, 3, 3])
    # The first coreferent mention of the first chunk, it, looks back at the dog alone among the candidates.
    assert (chunks.guess[0, ..., 2] == 1).all()
    ids = encode_sentences([document.words[:10]], tokenizer, 14, "test")
    words = dense_words(plain_attentions(model, ids.encoded.input_ids[0], None), ids.word_of_token[0])[..., 1:-1, 1:-1]
    row = torch.from_numpy(words[..., 3, :]).index_fill(-1, torch.tensor([3]), -1)
    np.testing.assert_array_equal(chunks.guess[0, ..., 0], row.argmax(-1))
