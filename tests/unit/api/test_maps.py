"""The map of one head is that of the model, and a cell shows it."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

import headtypes
from headtypes.core.errors import InputError
from headtypes.data.encoding import encode_samples
from headtypes.data.tasks import Sample
from tests.support.drawing import check_lettering, texts
from tests.support.models import plain_attentions, tiny_bert, tiny_language_model

TEXTS = ("The old cat sat by the river.", "A dog was under the house.")


@pytest.mark.parametrize("second", [None, TEXTS[1]])
def test_the_map_is_the_models_attention_with_its_tokens(second):
    model, tokenizer = tiny_bert()
    found = headtypes.attention_map(model, tokenizer, TEXTS[0], second, layer=2, head=3)
    encoded = encode_samples([Sample("", TEXTS[0], second)], tokenizer, "sentence_pair", 64)
    expected = plain_attentions(model, encoded.input_ids[0], encoded.token_types[0])[2, 3]
    np.testing.assert_allclose(found.attention, expected, atol=1e-6)
    assert found.tokens[0] == "[CLS]"
    assert len(found.tokens) == len(expected)
    check_lettering(found.figure())
    assert {"head 3-4", "[SEP]"} <= set(texts(found.figure()))
    # Dark where the head looks: the picture is that of the array.
    assert Image.open(BytesIO(found._repr_png_())).size[0] > 200
    np.testing.assert_array_equal(found.figure().axes[0].images[0].get_array(), found.attention)


def test_of_a_decoder_it_looks_back_alone():
    model, tokenizer = tiny_language_model("gpt2")
    found = headtypes.attention_map(model, tokenizer, "the cat sat by the river", layer=0, head=1)
    np.testing.assert_array_equal(np.triu(found.attention, 1), 0)
    np.testing.assert_allclose(found.attention.sum(axis=1), 1, atol=1e-5)


def test_a_head_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="no head 5 in layer 0: count 3 layers of 5 heads from 0"):
        headtypes.attention_map(*tiny_bert(), TEXTS[0], layer=0, head=5)
