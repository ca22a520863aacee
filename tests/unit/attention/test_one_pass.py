"""Reducers see the attention of the plain model, share a pass without disturbing one another, and take any model."""

from functools import partial

import numpy as np
import pytest
import torch
from scipy.stats import entropy as defined_entropy

from headtypes.analyses.ablation.evaluation import MeanHeadOutputs, measure_head_outputs
from headtypes.analyses.distances.measure import DistanceFeatures, extract_features
from headtypes.analyses.maps import map_samples
from headtypes.analyses.surface.measure import measure_surface
from headtypes.attention.one_pass import ModelOnTask, read_attention
from headtypes.attention.reducers import PerSample
from headtypes.data.encoding import encode_samples
from tests.support.models import plain_attentions, tiny_bert, tiny_roberta
from tests.support.reading import cut_into_blocks, measured
from tests.support.records import SAMPLES as ALL_SAMPLES
from tests.support.records import recorded, shortened_samples
from tests.support.refusals import refusal

SAMPLES = shortened_samples(2)


class Entropy(PerSample):
    def add(self, block):
        entropy = -torch.xlogy(block.attention, block.attention).sum(-1)
        self.values[block.group.samples, block.layer] += entropy.sum(-1) / block.group.length


class Received(PerSample):
    def __init__(self):
        super().__init__(2)
        self.blocks = []

    def add(self, block):
        self.blocks.append((block.rows.start == 0, block.rows.stop == block.group.length))
        ends = block.attention[..., [0, -1]].sum(2) / block.group.length
        self.values[block.group.samples, block.layer] += ends


class Summed(PerSample):
    def __init__(self, reads_attention):
        super().__init__()
        self.reads_attention = reads_attention

    def add(self, block):
        assert (block.attention is not None) == self.reads_attention
        self.values[block.group.samples, block.layer] += block.outputs.sum((2, 3))


def encoded_by(make):
    model, tokenizer = make()
    return model, encode_samples(SAMPLES, tokenizer, "question_answering", 64)


def read(model, encoded, *reducers, batch_tokens=60):
    return read_attention(model, encoded, reducers, batch_tokens=batch_tokens, what="test")


@pytest.mark.parametrize("make", [tiny_bert, tiny_roberta])
@pytest.mark.parametrize("pairs", [2**16, 1], ids=["", "least blocks"])
def test_a_reducer_of_a_few_lines_equals_the_definition(make, pairs, monkeypatch):
    monkeypatch.setattr("headtypes.attention.hook._BLOCK_PAIRS", pairs)
    monkeypatch.setattr("headtypes.attention.hook.LEAST_ROWS", 8)
    model, encoded = encoded_by(make)
    received = Received()
    entropy, ends = read(model, encoded, Entropy(), received)
    assert entropy.dtype == np.float32
    for sample, ids in enumerate(encoded.input_ids):
        attention = plain_attentions(model, ids, encoded.token_types and encoded.token_types[sample])
        np.testing.assert_allclose(entropy[sample], defined_entropy(attention, axis=-1).mean(-1), atol=1e-5)
        np.testing.assert_allclose(ends[sample], attention.mean(2)[..., [0, -1]], atol=1e-6)
    first, last = np.sum(received.blocks, 0)
    assert first == last
    assert (len(received.blocks) == last) == (pairs > 1)


def test_reducers_in_one_pass_find_what_each_finds_alone():
    model, encoded = encoded_by(tiny_bert)
    make = [Entropy, lambda: DistanceFeatures(encoded.kinds), Received, lambda: Summed(True)]
    together = read(model, encoded, *(each() for each in make))
    for each, found in zip(make, together, strict=True):
        np.testing.assert_allclose(read(model, encoded, each())[0], found, rtol=1e-5, atol=1e-5)


class Heads(PerSample):
    def __init__(self, by_head):
        super().__init__()
        self.by_head, self.seen = by_head, set()

    def add(self, block):
        assert block.attention.shape[1] == block.outputs.shape[1] == len(range(5)[block.heads])
        self.seen.add((block.heads.start, block.heads.stop))


@pytest.mark.parametrize("others", [[], [True], [False]])
@pytest.mark.parametrize("by_head", [True, False])
def test_heads_come_one_by_one_where_every_reducer_takes_them_so(by_head, others, monkeypatch):
    cut_into_blocks(monkeypatch, "by head")
    model, encoded = encoded_by(tiny_bert)
    reducer = Heads(by_head)
    read(model, encoded, reducer, *map(Heads, others))
    one_by_one = {(head, head + 1) for head in range(5)}
    assert reducer.seen == (one_by_one if by_head and all(others) else {(0, 5)})


def test_where_nobody_reads_attention_none_is_computed(monkeypatch):
    model, encoded = encoded_by(tiny_bert)
    (in_blocks,) = read(model, encoded, Summed(True))
    monkeypatch.setattr("headtypes.attention.hook.Layer.attention", None)
    (alone,), (means,) = read(model, encoded, Summed(False)), read(model, encoded, MeanHeadOutputs())
    np.testing.assert_allclose(alone, in_blocks, atol=1e-4)
    np.testing.assert_allclose(means.sum(-1), alone.sum(0) / sum(encoded.lengths), atol=1e-5)


def test_a_batch_that_was_halved_counts_once():
    model, encoded = encoded_by(tiny_bert)

    class Full(Entropy):
        def add(self, block):
            if block.layer == 1 and len(self.batch.samples) > 2:
                raise torch.OutOfMemoryError("planted")
            super().add(block)

    makes = [Entropy, MeanHeadOutputs]
    for each, plain in zip(read(model, encoded, Full(), MeanHeadOutputs(), batch_tokens=400), makes, strict=True):
        np.testing.assert_allclose(each, read(model, encoded, plain(), batch_tokens=400)[0], atol=1e-6)


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_a_model_is_read_however_it_was_loaded_and_left_as_it_was(implementation):
    model, encoded = encoded_by(tiny_bert)
    (expected,) = read(model, encoded, Entropy())
    model.set_attn_implementation(implementation)
    for whole_or_bare in (model, model.base_model):
        np.testing.assert_allclose(read(whole_or_bare, encoded, Entropy())[0], expected, atol=1e-5)
    assert model.config._attn_implementation == implementation


ENCODED = {"kind": "question_answering"}
HOW = {"precision": "float32", "batch_tokens": 20}
ADVICE = (
    "; the model's weights are damaged, or its numbers overflow in this precision: compute in float32, or use other "
    "weights."
)


READINGS = {
    "features": (partial(measured, extract_features), ENCODED, "does not sum to one"),
    "surface": (partial(measured, measure_surface), ENCODED, "is not finite"),
    "map": (map_samples, {**ENCODED, "tokens": 30, "count": 1}, "is not finite"),
}


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    model, tokenizer = tiny_bert()
    model.bert.encoder.layer[1].attention.self.key.weight.data[7:14] = torch.nan
    return recorded(model, tokenizer, tmp_path_factory.mktemp("broken"))


@pytest.mark.parametrize(("measure", "settings", "fault"), READINGS.values(), ids=READINGS)
def test_heads_whose_weights_are_not_finite_are_named(measure, settings, fault, broken):
    message = refusal(measure, ModelOnTask(broken, task="squad", **HOW), ALL_SAMPLES, **settings)
    assert message == f"tiny on squad: the attention of head 2-2 {fault}{ADVICE}"


def test_outputs_that_are_not_finite_are_named(broken):
    message = refusal(measure_head_outputs, ALL_SAMPLES, broken, task="squad", **ENCODED, **HOW)
    assert message == f"tiny on squad: the output of head 2-2 is not finite{ADVICE}"


def test_samples_are_cut_to_what_model_and_task_take(tmp_path):
    record = recorded(*tiny_bert(), tmp_path)
    for most, longest in ((None, record.max_length), (30, 30), (10**6, record.max_length)):
        run = ModelOnTask(record, task="squad", precision="float32", max_seq_length=most)
        assert run.longest == longest
        assert max(run.encode(ALL_SAMPLES, "question_answering").lengths) <= longest
