"""Mean head outputs equal attention times values, computed densely, sample by sample."""

import numpy as np
import pytest
import torch

from headtypes.analyses.ablation.head_outputs import measure_head_outputs
from headtypes.data.encoding import encode_samples
from headtypes.data.tasks import Sample
from tests.support.dense_norms import defined_writes
from tests.support.models import tiny_family
from tests.support.records import PAIRS, recorded


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_means_are_over_all_real_tokens_of_all_samples(family, tmp_path):
    model, tokenizer = tiny_family(family)
    record = recorded(model, tokenizer, tmp_path)
    samples = [Sample(f"{pair.id}-{turn}", pair.first, pair.second) for turn in range(2) for pair in PAIRS]
    means = measure_head_outputs(
        samples, record, task="mrpc", kind="sentence_pair", precision="float32", batch_tokens=100
    )
    encoded = encode_samples(samples, tokenizer, "sentence_pair", record.max_length)
    assert len(set(encoded.lengths)) > 2
    types = encoded.token_types or [None] * len(samples)
    outputs = [
        torch.stack([attention @ value for attention, value, _ in defined_writes(model, family, *sample)])
        for sample in zip(encoded.input_ids, types, strict=True)
    ]
    np.testing.assert_allclose(means, torch.cat(outputs, 2).mean(2), atol=2e-6)
    assert means.dtype == np.float32
