"""Surface patterns equal their definition, computed densely on one sample at a time."""

import numpy as np
import pytest
import torch
from scipy.stats import entropy

from headtypes.analyses.distances.measure import DistanceFeatures
from headtypes.analyses.surface.measure import COLUMNS, Surface, SurfacePatterns
from headtypes.attention.one_pass import read_attention
from headtypes.data.encoding import encode_samples
from tests.support.dense import GATED, defined_norms, named, with_no_token
from tests.support.models import FAMILIES as ALL
from tests.support.models import in_float64, plain_attentions, tiny_family
from tests.support.reading import WAYS, attention_of, cut_into_blocks, layer_of, read_with, reader_of
from tests.support.records import SAMPLES


def defined_surface(attention: np.ndarray, tokens: list[str]) -> dict[str, float]:
    """Of one head [query, key] on one segment; NaN without a token or if, of a pair, one does not see the other."""
    length = len(tokens)
    sees = attention > 0
    of_cls, of_sep, of_punctuation = (
        [t for t in range(length) if tokens[t] in kinds] for kinds in ({"[CLS]"}, {"[SEP]"}, {",", "."})
    )
    others = [s for s in range(length) if s not in of_sep]

    def offset(by):
        possible = length <= abs(by) or np.diagonal(sees, by).any()
        return np.diagonal(attention, by).sum() / length if possible else np.nan

    def mean_to(rows, keys):
        return attention[np.ix_(rows, keys)].sum(1).mean()

    rows = range(length)
    found = {
        "self": offset(0),
        "previous": offset(-1),
        "next": offset(1),
        "cls": mean_to(rows, of_cls) if of_cls else np.nan,
        "sep": mean_to(rows, of_sep) if of_sep else np.nan,
        "punctuation": mean_to(rows, of_punctuation),
        "sep_to_sep": mean_to(of_sep, of_sep) if of_sep else np.nan,
        "other_to_sep": mean_to(others, of_sep) if of_sep else np.nan,
        "entropy": np.mean(entropy(with_no_token(attention), axis=1)),
        "entropy_cls": np.nan,
        "peak": attention.max(1).mean(),
        "first": mean_to(rows, [0]),
        "uniform": np.log(sees.sum(1)).mean(),
    }
    if of_cls and sees[of_cls[0]].sum() > 1:
        found["entropy_cls"] = entropy(attention[of_cls[0]])
    found["special"] = found["cls"] + found["sep"] + found["punctuation"]
    return found


NAMES = (*COLUMNS, "uniform")
# With shared keys and without, causal and not, with local layers of both, with a bias, and with a share for no token.
FAMILIES = ("bert", "roberta", "gpt2", "llama", "modernbert", "mistral", "mpnet", "gpt_oss")
# What a model cannot have: it sees no token that follows, or its tokenizer adds no such token.
NO_SEP = {"next", "sep", "special", "sep_to_sep", "other_to_sep", "entropy_cls"}
IMPOSSIBLE = dict.fromkeys(("llama", "mistral"), NO_SEP) | dict.fromkeys(("gpt_oss", "gpt2"), NO_SEP | {"cls"})


def family(name):
    model, tokenizer = tiny_family(name)
    # Nothing but the reduction rounds.
    return in_float64(model), tokenizer, encode_samples(SAMPLES, tokenizer, "question_answering", 64)


def expected_surface(attention, tokens):
    return np.array([[defined_surface(head, tokens)[name] for name in NAMES] for head in attention])


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("batch_tokens", [10_000, 1], ids=["padded", "alone"])
def test_patterns_equal_the_definition(name, batch_tokens):
    model, tokenizer, encoded = family(name)
    surface = read_with(SurfacePatterns(encoded.kinds), model, encoded, batch_tokens)
    assert surface.dtype == np.float32
    for index, ids in enumerate(encoded.input_ids):
        attention = plain_attentions(model, ids, encoded.token_types and encoded.token_types[index])
        for layer, heads in enumerate(attention):
            expected = expected_surface(heads, named(tokenizer, ids))
            np.testing.assert_allclose(surface[index, layer], expected, atol=1e-6, rtol=0)
    impossible = {NAMES[column] for column in np.flatnonzero(np.isnan(surface).any((0, 1, 2)))}
    assert impossible == IMPOSSIBLE.get(name, set())


@pytest.mark.parametrize("name", [each for each in ALL if each not in GATED])
def test_patterns_of_norms_equal_the_definition(name):
    model, tokenizer, encoded = family(name)
    reducers = [SurfacePatterns(encoded.kinds), SurfacePatterns(encoded.kinds, "norms")]
    weights, norms = read_attention(model, encoded, reducers, batch_tokens=10_000, what="test")
    for index, ids in enumerate(encoded.input_ids):
        defined = defined_norms(model, name, ids, encoded.token_types and encoded.token_types[index])
        for layer, heads in enumerate(defined):
            # Whether a pattern is possible depends on what may be looked at, which zeros of weights show.
            expected = np.where(np.isnan(weights[index, layer]), np.nan, expected_surface(heads, named(tokenizer, ids)))
            np.testing.assert_allclose(norms[index, layer, :, :-1], expected[:, :-1], atol=1e-6, rtol=0)
    np.testing.assert_array_equal(norms[..., -1], weights[..., -1])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("lengths", [[45, 45, 45, 40, 7, 7, 1], [90, 90, 89]], ids=["several at once", "in blocks"])
@pytest.mark.parametrize("way", WAYS)
@torch.inference_mode()
def test_samples_that_are_read_together_equal_the_definition(lengths, causal, way, monkeypatch):
    cut_into_blocks(monkeypatch, way)
    rng = np.random.default_rng(0)
    layer = layer_of(lengths, heads=3, causal=causal, seed=1)
    tokens = [["[CLS]", *rng.choice(["a", "b", ",", "."], length - 1)] for length in lengths]
    for sample in tokens[:-1]:
        sample[len(sample) // 2] = sample[-1] = "[SEP]"
    kind_of = {"[CLS]": 1, "[SEP]": 2, ",": 3, ".": 4}
    reducer = SurfacePatterns([np.array([kind_of.get(token, 0) for token in sample], np.int8) for sample in tokens])
    reader = reader_of([reducer, DistanceFeatures(reducer._kinds)], lengths, 1, heads=3)
    reader(0, layer)
    reader.finish("test")
    for sample, length in enumerate(lengths):
        expected = expected_surface(attention_of(layer, sample, length), tokens[sample])
        np.testing.assert_allclose(reducer.result()[sample, 0], expected, atol=1e-6, rtol=0)


def test_a_mean_is_over_the_segments_that_have_the_pattern():
    patterns = np.random.default_rng(0).random((21, 2, 3, len(COLUMNS)), dtype=np.float32)
    patterns[4:9, 1, :, COLUMNS.index("sep")] = np.nan
    patterns[..., COLUMNS.index("next")] = np.nan
    read = Surface(patterns, np.ones((21, 2), np.float32), np.full(21, 9), [str(number) for number in range(21)])
    np.testing.assert_allclose(read.mean("self"), read.column("self").astype(float).mean(0), rtol=1e-12)
    sep = read.column("sep").astype(float)
    np.testing.assert_allclose(read.mean("sep")[1], np.delete(sep[:, 1], slice(4, 9), axis=0).mean(0), rtol=1e-12)
    assert np.isnan(read.mean("next")).all()
