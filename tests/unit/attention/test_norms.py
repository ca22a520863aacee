"""Shares of norms equal their definition (Kobayashi et al. 2020), computed densely with each family's projection."""

import numpy as np
import pytest
import torch

from headtypes.analyses.distances.measure import DistanceFeatures
from headtypes.attention.norms import scale_rows
from headtypes.attention.one_pass import read_attention
from headtypes.core.errors import InputError
from headtypes.data.encoding import encode_samples
from tests.support.dense import GATED, defined_norms, named
from tests.support.models import ENCODERS, FAMILIES, tiny_bert, tiny_family
from tests.support.records import SAMPLES
from tests.unit.analyses.distances.test_measure import defined_features


@pytest.mark.parametrize("family", [each for each in [*FAMILIES, *ENCODERS] if each not in GATED])
def test_norms_in_padded_batches_equal_the_definition_on_single_samples(family):
    model, tokenizer = tiny_family(family)
    encoded = encode_samples(SAMPLES, tokenizer, "question_answering", 64)
    reducers = [DistanceFeatures(encoded.kinds), DistanceFeatures(encoded.kinds, of="norms")]
    weights, norms = read_attention(model, encoded, reducers, batch_tokens=10_000, what="test")
    assert np.abs(weights - norms).max() > 0.01
    for index, ids in enumerate(encoded.input_ids):
        defined = defined_norms(model, family, ids, encoded.token_types and encoded.token_types[index])
        expected = defined_features(defined, named(tokenizer, ids), 64)
        np.testing.assert_allclose(norms[index], expected, atol=1e-6, rtol=0)


def test_a_head_that_hands_over_nothing_has_shares_of_zero():
    attention, lengths = torch.rand(1, 2, 3, 3), torch.tensor([[[1.0, 2, 0], [0, 0, 0]]])
    shares = scale_rows(attention, lengths) * lengths[:, :, None]
    assert shares[0, 1].eq(0).all()
    torch.testing.assert_close(shares[0, 0].sum(-1), torch.ones(3))
    assert shares[0, 0, :, 2].eq(0).all()


def test_head_outputs_that_are_gated_before_they_are_projected_are_refused():
    model, tokenizer = tiny_bert(layers=2)
    model.bert.encoder.layer[1].attention.output.dense.register_forward_pre_hook(lambda _, read: (read[0] * 2,))
    encoded = encode_samples(SAMPLES, tokenizer, "question_answering", 64)
    reducer = DistanceFeatures(encoded.kinds, of="norms")
    with pytest.raises(InputError, match="head outputs of layer 2 than multiply"):
        read_attention(model.base_model, encoded, [reducer], batch_tokens=99, what="")
