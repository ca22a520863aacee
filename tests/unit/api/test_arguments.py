"""What the functions refuse, by the name of the argument, before anything is computed."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from headtypes import ablated, attention_map, detect_heads, head_types, read_heads, show
from headtypes.attention.operations import Reading
from headtypes.core.errors import InputError
from tests.support.models import tiny_bert
from tests.support.planted import typed

TEXTS = ["the cat sat by the river", "a dog ran"]
MODEL, TOKENIZER = OWN = tiny_bert()
FEATURES = read_heads(*OWN, TEXTS)
INSIDE = SimpleNamespace(model=MODEL, tokenizer=TOKENIZER)


def ablate(model, tokenizer) -> None:
    with ablated(model, {"1-1": "zero"}):
        model(**tokenizer(TEXTS[0], return_tensors="pt"))


CALLS = [
    lambda model, tokenizer: read_heads(model, tokenizer, TEXTS),
    lambda model, tokenizer: detect_heads(model, tokenizer, length=4),
    lambda model, tokenizer: show(model, tokenizer, TEXTS[0]),
    ablate,
]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: read_heads(*OWN, TEXTS, max_length=0), "max_length should be greater than 0; found 0"),
        (lambda: read_heads(*OWN, TEXTS, max_length=65), "max_length is 65, but the model takes 64 tokens at most"),
        (lambda: read_heads(*OWN, TEXTS, norms="no"), "norms should be a valid boolean; found 'no'"),
        (lambda: read_heads(*OWN, TEXTS, kind="pair"), "kind should be 'question_answering', 'sentence_pair'"),
        (lambda: read_heads(torch.nn.DataParallel(MODEL), TOKENIZER, TEXTS), r"model .*; give its `\.module`"),
        (lambda: read_heads(INSIDE, TOKENIZER, TEXTS), r"model .*; give its `\.model`"),
        (lambda: read_heads(MODEL, INSIDE, TEXTS), r"tokenizer .*; give its `\.tokenizer`"),
        (lambda: read_heads(MODEL, TOKENIZER.backend_tokenizer, TEXTS), "tokenizer .* is a Tokenizer; load it by"),
        (lambda: detect_heads(*OWN, length=0), "length should be greater than or equal to 4; found 0"),
        (lambda: detect_heads(*OWN, length=2), "length should be greater than or equal to 4; found 2"),
        (lambda: detect_heads(*OWN, least=np.nan), "least should be less than or equal to 1; found nan"),
        (
            lambda: show(*OWN, "a", partition=typed([["a"]])),
            "is of 1 layers of 1 heads, but the model has 3 layers of 5",
        ),
        (lambda: show(*OWN, "a", partition="a.csv"), "partition should be an instance of Partition; found 'a.csv'"),
        (lambda: attention_map(*OWN, "a", layer=0, head=5), "no head 5 in layer 0: count 3 layers of 5 heads from 0"),
        (lambda: head_types(FEATURES, method="foo"), "method should be 'kmeans', 'gmm'"),
        (lambda: head_types(FEATURES, k=0), "k should be greater than 0; found 0"),
        (lambda: head_types(FEATURES, k=2.0), r"k should be a valid integer; found 2\.0"),
        (lambda: head_types(FEATURES, seed=-1), "seed should be greater than or equal to 0; found -1"),
        (lambda: head_types(FEATURES, distance_bins=5), "distance_bins should be 1, 2, 4, 8, 16, 32 or 64; found 5"),
        (lambda: head_types(replace(FEATURES, distance=FEATURES.distance * np.nan)), "features are not finite"),
        (lambda: head_types(FEATURES.distance), "features should be an instance of Features; found a ndarray"),
        (lambda: ablated(MODEL, None), "operations should be a valid dictionary; found None"),
        (lambda: ablated(MODEL, ["1-1"]), "operations should be a valid dictionary; found a list"),
        (lambda: ablated(MODEL, {"1-1": None}), r"operations\.1-1 should be a valid string or callable; found None"),
        (lambda: ablated(MODEL, {"dense": "zero"}).__enter__(), "dense is no head, and types need `partition`"),
        (lambda: ablated(MODEL, {}, reading=Reading("paper")), "reading.sentences should be 'splitter' or 'segments'"),
    ],
)
def test_an_argument_that_cannot_be_is_refused_by_its_name(call, said):
    MODEL.eval()
    with pytest.raises(InputError, match=said):
        call()


@pytest.mark.parametrize("call", CALLS)
def test_a_model_that_trains_in_part_is_compiled_in_part_or_pruned_is_refused_for_that(call):
    model, tokenizer = tiny_bert()
    layer = model.bert.encoder.layer[1].train()
    with pytest.raises(InputError, match=r"layer\.1 is in training mode, .* call model\.eval\(\) first"):
        call(model, tokenizer)
    for part, name in ((layer.attention.self, "query"), (layer.attention.self, "key"), (layer.attention.self, "value")):
        setattr(part, name, torch.nn.Linear(35, 28))
    layer.attention.output.dense = torch.nn.Linear(28, 35)
    with pytest.raises(InputError, match=r"as pruning leaves them \(4 where its config says 5\)"):
        call(model.eval(), tokenizer)
    layer.compile()
    with pytest.raises(InputError, match="The model, or a part of it, was compiled"):
        call(model, tokenizer)


@pytest.mark.parametrize("call", CALLS[:3])
def test_heads_are_not_read_in_the_precision_of_autocast(call):
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(InputError, match=r"torch\.autocast computes in another"):
        call(*OWN)


def test_weights_that_are_no_numbers_are_said_where_they_are_shown():
    model, tokenizer = tiny_bert()
    model.bert.encoder.layer[1].attention.self.query.weight.data[0] = torch.nan
    with pytest.raises(InputError, match=r"the attention of head 2-1 .*; the model's weights are damaged"):
        show(model, tokenizer, TEXTS[0])


def test_several_threads_read_the_heads_of_one_model():
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: read_heads(*OWN, TEXTS), range(12)):
            np.testing.assert_allclose(found.distance, FEATURES.distance, atol=1e-6)
    assert MODEL.config._attn_implementation == "sdpa"
