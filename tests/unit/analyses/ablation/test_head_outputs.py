"""Mean head outputs equal those of a plain forward pass, sample by sample, and come back from their file."""

import copy
import os
import time

import numpy as np
import pytest
import torch

from headtypes.analyses.ablation.head_outputs import (
    MeanHeadOutputs,
    measure_head_outputs,
)
from headtypes.analyses.ablation.results import read_head_outputs, write_head_outputs
from headtypes.attention.batches import model_inputs
from headtypes.attention.hook import run
from headtypes.data.encoding import encode_samples
from headtypes.data.records import Sample
from tests.support.models import opened, plain_attentions, tiny_bert, tiny_roberta
from tests.support.reading import mean_head_outputs, reader_of
from tests.support.records import PAIRS, recorded


def plain_outputs(model, ids, types) -> np.ndarray:
    """The head outputs of one sample alone, from attention and values in float64: [layer, head, token, channel]."""
    attention = plain_attentions(model, ids, types)
    values = []
    model = copy.deepcopy(model).double()
    for layer in model.base_model.encoder.layer:
        layer.attention.self.value.register_forward_hook(lambda module, given, value: values.append(value[0]))
    inputs = {"input_ids": torch.tensor([ids])}
    if types is not None:
        inputs["token_type_ids"] = torch.tensor([types])
    with torch.inference_mode():
        model(**inputs)
    heads = attention.shape[1]
    values = torch.stack(values).numpy().reshape(len(values), len(ids), heads, -1)
    return np.einsum("lhqk,lkhc->lhqc", attention, values)


@pytest.mark.parametrize("make", [tiny_bert, tiny_roberta])
def test_means_are_over_all_real_tokens_of_all_samples(make, tmp_path):
    model, tokenizer = make()
    record = recorded(model, tokenizer, tmp_path)
    samples = [Sample(f"{pair.id}-{copy_}", pair.first, pair.second) for copy_ in range(2) for pair in PAIRS]
    found = measure_head_outputs(
        samples, record, task="mrpc", kind="sentence_pair", precision="float32", batch_tokens=100
    )
    encoded = encode_samples(samples, tokenizer, "sentence_pair", record.max_length)
    assert len(set(encoded.lengths)) > 2
    types = encoded.token_types or [None] * len(samples)
    every = [plain_outputs(model, *each) for each in zip(encoded.input_ids, types, strict=True)]
    np.testing.assert_allclose(found, np.concatenate(every, axis=2).mean(2), atol=2e-6)
    assert found.dtype == np.float32


def test_what_padding_holds_never_counts():
    model, tokenizer = tiny_bert()
    encoded = encode_samples(PAIRS, tokenizer, "sentence_pair", 64)
    reducer = MeanHeadOutputs()
    reader = reader_of([reducer], encoded.lengths, 3, 5)
    inputs = model_inputs(encoded.input_ids, encoded.token_types, 0, torch.device("cpu"))

    class Spoiled:
        def __init__(self, layer):
            self.layer = layer

        def head_outputs(self):
            outputs = self.layer.head_outputs()
            for one, length in zip(outputs, encoded.lengths, strict=True):
                one[:, length:] = torch.nan
            return outputs

    def spoil(number, layer):
        reader(number, Spoiled(layer))
        return layer.head_outputs()

    with torch.inference_mode():
        run(opened(model), inputs, spoil)
    reader.finish("test")
    np.testing.assert_allclose(reducer.result(), mean_head_outputs(model, encoded), atol=1e-6)


def test_head_outputs_come_back_from_their_file(tmp_path):
    head_outputs = np.random.default_rng(0).normal(size=(3, 5, 7)).astype(np.float32)
    for name in ("a.h5", "b.h5"):
        write_head_outputs(tmp_path / name, head_outputs, {"spec": {"b": 1, "a": 2}})
        time.sleep(1.1)  # HDF5 counts times in seconds.
    read = read_head_outputs(tmp_path / "a.h5")
    np.testing.assert_array_equal(read, head_outputs)
    assert read.dtype == np.float32
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.h5", "b.h5"]


@pytest.mark.parametrize("path", [None, "", []])
def test_where_none_are_needed_no_head_outputs_are_read(path):
    assert read_head_outputs(path) is None
