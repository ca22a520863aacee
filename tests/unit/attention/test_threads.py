"""The number of threads changes the order of sums, and features by no more than that."""

import numpy as np
import pytest
import torch

from headtypes.data.encoding import encode_samples
from tests.support.models import tiny_bert
from tests.support.reading import distance_features
from tests.support.records import SAMPLES


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def test_features_stay_within_1e_5(threads):
    model, tokenizer = tiny_bert(layers=2, heads=8, head_size=64)
    encoded = encode_samples(SAMPLES * 4, tokenizer, "question_answering", 64)
    found = []
    for number in (1, 1, 2, 3):
        threads(number)
        found.append(distance_features(model, encoded))
    np.testing.assert_array_equal(found[0], found[1])
    for other in found[2:]:
        np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-5)
