"""Mean head outputs equal those of a plain forward pass, sample by sample, and come back from their file."""

import copy

import numpy as np
import pytest
import torch

from headtypes.analyses.ablation.head_outputs import measure_head_outputs
from headtypes.data.encoding import encode_samples
from headtypes.data.records import Sample
from tests.support.models import plain_attentions, tiny_bert, tiny_roberta
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
