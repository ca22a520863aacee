"""Attention maps are those of the plain model, of the sample that was asked for, and come back from disk."""

import numpy as np
import pytest

from headtypes.analyses import maps as module
from headtypes.analyses.maps import AttentionMaps, Examples, choose_samples, map_examples, map_samples
from headtypes.analyses.surface.measure import measure_surface
from headtypes.attention.one_pass import ModelOnTask
from headtypes.core.hdf5_files import read_arrays, read_groups, write_arrays
from headtypes.data.encoding import encode_samples
from headtypes.data.tasks import Sample
from tests.support.dense import defined_norms
from tests.support.models import plain_attentions, tiny_bert, tiny_family, tiny_language_model, tiny_roberta
from tests.support.reading import measured
from tests.support.records import SAMPLES, recorded
from tests.support.tiny import bert_tokenizer, roberta_tokenizer

HOW = {"task": "squad", "precision": "float32"}


@pytest.mark.parametrize("make", [tiny_bert, tiny_roberta])
def test_maps_equal_the_attention_that_the_plain_model_gives_out(make, tmp_path):
    model, tokenizer = make()
    run = ModelOnTask(recorded(model, tokenizer, tmp_path), **HOW)
    found = map_samples(run, SAMPLES, kind="question_answering", tokens=64)
    assert [maps.sample_id for maps in found] == [sample.id for sample in SAMPLES]
    for sample, maps in zip(SAMPLES, found, strict=True):
        encoded = encode_samples([sample], tokenizer, "question_answering", 64)
        expected = plain_attentions(model, encoded.input_ids[0], encoded.token_types and encoded.token_types[0])
        assert len(maps.tokens) == encoded.lengths[0]
        assert maps.attention.dtype == np.float32
        np.testing.assert_allclose(maps.attention, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", ["bert", "llama"])
def test_lengths_turn_maps_into_norms_and_come_back_from_disk(name, tmp_path):
    model, tokenizer = tiny_family(name)
    run = ModelOnTask(recorded(model, tokenizer, tmp_path / "model"), **HOW)
    found = map_samples(run, SAMPLES, norms=True, count=2, kind="question_answering")
    write_arrays(tmp_path / "maps.h5", found, {})
    for maps in read_groups(tmp_path / "maps.h5", AttentionMaps).values():
        sample = next(each for each in SAMPLES if each.id == maps.sample_id)
        encoded = encode_samples([sample], tokenizer, "question_answering", module.SHOWN_TOKENS)
        expected = defined_norms(model, name, encoded.input_ids[0], encoded.token_types and encoded.token_types[0])
        norms = maps.attention * maps.lengths[:, :, None]
        np.testing.assert_allclose(norms / norms.sum(-1, keepdims=True), expected, atol=5e-4)
    (alone,) = map_samples(run, SAMPLES, count=1, kind="question_answering")
    assert alone.lengths is None


def pairs(*lengths: int) -> list[dict]:
    """Samples of as many tokens with the tiny WordPiece: three special ones, one of the question, the context."""
    return [
        Sample(f"{place}:{length}", "where", " ".join(["cat"] * (length - 4))) for place, length in enumerate(lengths)
    ]


@pytest.mark.parametrize(
    ("lengths", "tokens", "count", "chosen", "found"),
    [
        # One is the nearest to the wanted length.
        ((30, 12, 22, 40), 24, 1, ["2:22"], [22]),
        ((30, 24, 22, 24), 24, 1, ["1:24"], [24]),
        ((26, 22), 24, 1, ["1:22"], [22]),  # As near as the one that would be cut.
        ((22, 26), 24, 1, ["0:22"], [22]),
        ((50, 41, 60, 41), 24, 1, ["1:41"], [24]),
        ((5, 9), 24, 1, ["1:9"], [9]),
        ((70, 40), 100, 1, ["0:70"], [64]),  # The model takes no more than 64.
        # Of several, those that need no cut come first, as drawn.
        ((30, 12, 24, 40), 24, 8, ["1:12", "2:24", "0:30", "3:40"], [12, 24, 24, 24]),
        ((30, 12, 24, 22), 24, 2, ["1:12", "2:24"], [12, 24]),
        ((12, 9), 24, 8, ["0:12", "1:9"], [12, 9]),
    ],
)
def test_samples_are_taken_by_their_lengths(lengths, tokens, count, chosen, found):
    tokenizer = bert_tokenizer(["where", "cat"])
    samples, encoded = choose_samples(pairs(*lengths), tokenizer, "question_answering", 64, tokens, count)
    assert [sample.id for sample in samples] == chosen
    assert encoded.lengths == found
    whole = [int(name.split(":")[1]) for name in chosen]
    assert encoded.truncated.tolist() == [length < all_ for length, all_ in zip(found, whole, strict=True)]


def test_a_sample_whose_question_leaves_no_room_is_passed_over():
    tokenizer = bert_tokenizer(["where", "cat"])
    long_question = Sample("long", " ".join(["where"] * 21), "cat cat cat")
    (sample,), encoded = choose_samples([long_question, *pairs(40)], tokenizer, "question_answering", 64, 20)
    assert (sample.id, encoded.lengths) == ("0:40", [20])
    # Where no question leaves room, the sample is as much longer as it has to be.
    (sample,), encoded = choose_samples([long_question], tokenizer, "question_answering", 64, 20)
    assert (sample.id, encoded.lengths) == ("long", [27])


def whole_map(model, tokenizer, sample: Sample, folder) -> AttentionMaps:
    run = ModelOnTask(recorded(model, tokenizer, folder), **HOW)
    (maps,) = map_samples(run, [sample], kind="question_answering", tokens=64)
    return maps


def test_tokens_are_those_of_the_sample(tmp_path):
    maps = whole_map(
        tiny_bert()[0], bert_tokenizer(["where", "cat"]), Sample("a", "Where?", "Cats, a cat for $5"), tmp_path
    )
    expected = "[CLS] where ? [SEP] cat ##s , a cat f ##o ##r $ 5 [SEP]"
    assert " ".join(maps.tokens) == expected
    assert (maps.sample_id, maps.truncated) == ("a", False)
    assert maps.attention.shape == (3, 5, 15, 15)


def test_byte_level_tokens_are_read_as_text_where_they_are_whole_characters(tmp_path):
    tokenizer = roberta_tokenizer(["the", "cat", "river"])
    maps = whole_map(tiny_roberta()[0], tokenizer, Sample("a", "the cat", " the river é"), tmp_path)
    assert "river" in maps.tokens
    assert "\ufffd" not in "".join(maps.tokens)
    assert all(maps.tokens)


LONG, SHORT = "the cat sat on a mat and the dog ran to it . " * 3, "it sat ."
SEGMENTS = [Sample("a", LONG, LONG), Sample("b", LONG, SHORT), Sample("c", SHORT, SHORT)]


def mapped(model, tokenizer, folder, samples, **settings):
    how = {"precision": "float32", "max_seq_length": 40, "batch_tokens": 512}
    run = ModelOnTask(recorded(model, tokenizer, folder), task="told", **how)
    surface = measured(measure_surface, run, samples, kind="text")
    return map_examples(run, samples, surface, kind="text", **settings), surface


def test_maps_are_those_of_the_plain_model_among_the_last_tokens(tmp_path):
    model, tokenizer = tiny_bert(layers=2, heads=3)
    examples, surface = mapped(model, tokenizer, tmp_path, SEGMENTS, tokens=9)
    # The first with a separator among the last nine tokens but one.
    assert examples.sample_id == "b"
    assert len(examples.tokens) == 9
    assert examples.tokens[-1] == "[SEP]"
    assert examples.tokens.count("[SEP]") == 2
    assert not examples.begins
    encoded = encode_samples([SEGMENTS[1]], tokenizer, "text", 40)
    plain = plain_attentions(model, encoded.input_ids[0], encoded.token_types[0])[:, :, -9:, -9:]
    assert examples.patterns == list(module.PATTERNS)
    for pattern, head, value, attention in zip(
        examples.patterns, examples.heads, examples.value, examples.attention, strict=True
    ):
        values = surface.mean(module.PATTERNS[pattern])
        assert values[tuple(head)] == values.max() == pytest.approx(value)
        expected = plain[tuple(head)]
        expected = expected / expected.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(attention, expected, atol=1e-5)
    write_arrays(tmp_path / "examples.h5", examples, {})
    read = read_arrays(tmp_path / "examples.h5", Examples)
    assert (read.patterns, read.tokens, read.begins) == (examples.patterns, examples.tokens, examples.begins)
    np.testing.assert_array_equal(read.attention, examples.attention)


def test_without_a_short_second_paragraph_the_first_segment_is_shown():
    _, tokenizer = tiny_bert(layers=2, heads=3)

    def chosen(samples, tokens):
        return module.choose_segment(encode_samples(samples, tokenizer, "text", 40), tokens)

    assert chosen([SEGMENTS[0], SEGMENTS[0]], 9) == 0
    assert chosen(SEGMENTS, 9) == 1
    assert chosen(SEGMENTS[::-1], 9) == 0
    # The last token, which is always a separator, is not enough.
    assert chosen([SEGMENTS[0], SEGMENTS[1]], 2) == 0


def test_patterns_that_a_model_cannot_have_are_absent(tmp_path):
    examples, _ = mapped(*tiny_language_model("gpt2"), tmp_path, SEGMENTS, tokens=6)
    assert examples.patterns == ["broad", "punctuation"]
    assert examples.sample_id == "a"
    np.testing.assert_allclose(examples.attention.sum(axis=-1), 1, atol=1e-5)
    assert (np.triu(examples.attention, 1) == 0).all()
