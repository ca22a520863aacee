"""Example maps: of the head with the largest value, of the right segment, and as the plain model attends."""

import numpy as np
import pytest

from headtypes.analyses.maps import PATTERNS, Examples, choose_segment, map_examples
from headtypes.analyses.surface.measure import measure_surface
from headtypes.attention.one_pass import ModelOnTask
from headtypes.core.hdf5_files import read_arrays, write_arrays
from headtypes.data.encoding import encode_samples
from headtypes.data.tasks import Sample
from tests.support.models import plain_attentions, tiny_bert, tiny_language_model
from tests.support.reading import measured
from tests.support.records import recorded

LONG, SHORT = "the cat sat on a mat and the dog ran to it . " * 3, "it sat ."
SEGMENTS = [Sample("a", LONG, LONG), Sample("b", LONG, SHORT), Sample("c", SHORT, SHORT)]


def mapped(model, tokenizer, folder, samples, **settings):
    """A model's examples on samples, and its surface patterns."""
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
    encoded = encode_samples([SEGMENTS[1]], tokenizer, "text", 64, 40)
    plain = plain_attentions(model, encoded.input_ids[0], encoded.token_types[0])[:, :, -9:, -9:]
    assert examples.patterns == list(PATTERNS)
    for pattern, head, value, attention in zip(
        examples.patterns, examples.heads, examples.value, examples.attention, strict=True
    ):
        values = surface.mean(PATTERNS[pattern])
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
        return choose_segment(encode_samples(samples, tokenizer, "text", 40), tokens)

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
