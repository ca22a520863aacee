"""What is extracted of whole models, of every family, equals a dense computation from their attention."""

import numpy as np
import pytest
import torch

from headtypes.analyses.coreference.measure import extract_antecedents
from headtypes.analyses.probes.measure import train_probes
from headtypes.analyses.relations.accuracy import measure_relations
from headtypes.analyses.relations.guesses import ArcGuesses
from headtypes.analyses.relations.measure import extract_arcs
from headtypes.analyses.words.words import encode_sentences
from headtypes.core.hdf5_files import read_groups, write_arrays
from headtypes.data.kinds.coreference import AnnotatedDocument, AnnotatedSentence, Mention
from headtypes.papers.clark2019.tables import relation_tables, relations_page, relations_table
from tests.support.clark_results import PUBLISHED
from tests.support.models import plain_attentions, tiny_bert, tiny_family
from tests.support.records import recorded
from tests.support.word_maps import dense_guesses, dense_words, sentence

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
    """The record of a tiny model on disk, the model and the tokenizer."""
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
        local = name in ("mistral", "modernbert")
        if local:
            # What a local layer hides has no attention at all.
            seen = np.stack([words[..., 1:-1, 1:-1], words[..., 1:-1, 1:-1].swapaxes(-1, -2)], -1).transpose(
                2, 0, 1, 3, 4
            )
            known = seen.max(3) > 0
            margin = np.where(known, margin, 0)
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
