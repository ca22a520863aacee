"""The fused kernel equals the definition; on a GPU where there is one, else in Triton's interpreter."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from headtypes.analyses.distances import fused as fused_distance
from headtypes.analyses.distances import reducer
from headtypes.analyses.distances.columns import COLUMNS, split
from headtypes.analyses.distances.fused import FusedReader, fused_reader
from headtypes.analyses.distances.reducer import DistanceFeatures
from headtypes.attention.batches import model_inputs
from headtypes.attention.hook import Layer, run
from headtypes.data.encoding import encode_samples
from headtypes.data.records import Sample
from tests.support.models import QUESTIONS, opened, tiny_bert
from tests.support.places import SCRIPTS
from tests.support.reading import reader_of

pytest.importorskip("triton", reason="needs Triton, which is locked for Linux on x86-64")

ON_GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if ON_GPU else "cpu")
pytestmark = pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")


@pytest.fixture(autouse=True)
def poisoned_memory():
    """What PyTorch allocates without a value is filled with NaN, which shows where it is read before it is written."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    yield
    torch.use_deterministic_algorithms(False)


def layer_of(lengths, heads=2, key_heads=2, size=16, causal=False, dtype=torch.float32, padding=3):
    """A layer of random queries, keys and values, and random kinds of tokens, many of them special."""
    rng = np.random.default_rng(0)
    tokens = max(lengths) + padding

    def random(heads):
        # In the order in which a projection leaves them: [sample, token, head, channel].
        values = torch.from_numpy(1.5 * rng.standard_normal((len(lengths), tokens, heads, size)))
        return values.to(DEVICE, dtype).transpose(1, 2)

    mask = torch.arange(tokens) < torch.tensor(lengths)[:, None, None, None]
    mask = mask.expand(-1, -1, tokens, -1)
    if causal:
        mask = mask & torch.ones(tokens, tokens, dtype=torch.bool).tril()
    layer = Layer(random(heads), random(key_heads), random(key_heads), mask.to(DEVICE), size**-0.5)
    # Padding holds numbers that must not count.
    for tensor in (layer.query, layer.key, layer.value):
        for sample, length in zip(tensor, lengths, strict=True):
            sample[:, length:] = torch.nan
    return layer, [rng.choice(5, length, p=[0.6, 0.1, 0.1, 0.1, 0.1]) for length in lengths]


def defined(layer, kinds):
    """Head outputs, features, and the parts of these that go to the first token: lists of arrays by head.

    Of each sample alone, dense and in float64, pair by pair.
    """
    outputs, features, first = [], [], []
    shared = layer.query.shape[1] // layer.key.shape[1]
    for sample, kind in enumerate(kinds):
        length = len(kind)
        query, key, value = (
            each[sample, :, :length].double().cpu().numpy() for each in (layer.query, layer.key, layer.value)
        )
        key, value = np.repeat(key, shared, axis=0), np.repeat(value, shared, axis=0)
        scores = query @ key.transpose(0, 2, 1) * layer.scale
        scores[:, ~layer.mask[sample, 0, :length, :length].cpu().numpy()] = -np.inf
        attention = np.exp(scores - scores.max(-1, keepdims=True))
        attention /= attention.sum(-1, keepdims=True)
        distance = np.abs(np.subtract.outer(np.arange(length), np.arange(length)))
        bucket = np.where(kind[None] > 0, 64 + kind[None], np.where(distance == 0, 64, distance * 64 // length))
        features.append([np.bincount(bucket.ravel(), head.ravel(), COLUMNS) / length for head in attention])
        first.append([np.bincount(bucket[:, 0], head[:, 0], COLUMNS) / length for head in attention])
        outputs.append(attention @ value)
    return outputs, features, first


CASES = {
    "shorter than a block": {"lengths": [5, 1, 2]},
    "several blocks": {"lengths": [150, 64, 129, 1]},
    "no padding": {"lengths": [64, 64], "padding": 0},
    "odd head size": {"lengths": [70, 33], "size": 7},
    "large heads": {"lengths": [40], "size": 128},
    "grouped keys": {"lengths": [70, 65], "heads": 4, "key_heads": 2},
    "causal": {"lengths": [150, 65], "causal": True},
    "half precision": {"lengths": [150, 65], "dtype": torch.float16},
    "all at once": {"lengths": [130], "dtype": torch.float16, "causal": True, "heads": 4, "key_heads": 1, "size": 40},
    "bfloat16": {"lengths": [150, 65], "dtype": torch.bfloat16},
    "bfloat16, heads of 64": {"lengths": [384, 200, 17], "dtype": torch.bfloat16, "size": 64},
    "bfloat16, heads of 128": {"lengths": [200], "dtype": torch.bfloat16, "size": 128},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_outputs_and_features_equal_the_definition(case):
    dtype = case.get("dtype", torch.float32)
    if dtype == torch.bfloat16 and not ON_GPU:
        pytest.skip("needs a GPU: Triton's interpreter multiplies the bits of bfloat16 as integers")
    layer, kinds = layer_of(**case)
    outputs, features = FusedReader(kinds, DEVICE)(layer)
    assert outputs.dtype == dtype
    assert features.dtype == torch.float32
    # Of what the queries' precision holds, features lose nothing; outputs are rounded to it.
    feature_error = 1e-6 if dtype == torch.float32 else 2e-5
    output_error = {torch.float32: 1e-5, torch.float16: 5e-3, torch.bfloat16: 4e-2}[dtype]
    for sample, (expected, expected_features, _) in enumerate(zip(*defined(layer, kinds), strict=True)):
        length = len(kinds[sample])
        found = outputs[sample].double().cpu().numpy()
        np.testing.assert_allclose(found[:, :length], expected, atol=output_error, rtol=0)
        assert (found[:, length:] == 0).all()
        np.testing.assert_allclose(features[sample].cpu(), expected_features, atol=feature_error, rtol=0)


@pytest.mark.parametrize("case", ["shorter than a block", "several blocks", "causal", "all at once"])
def test_the_attention_to_the_first_token_equals_the_definition(case):
    layer, kinds = layer_of(**CASES[case])
    # One text begins with a comma, and another with an ordinary token.
    kinds[0][0], kinds[-1][0] = 3, 0
    error = 1e-6 if "dtype" not in CASES[case] else 2e-5
    without = FusedReader(kinds, DEVICE)(layer)
    outputs, found = FusedReader(kinds, DEVICE, first=True)(layer)
    assert torch.equal(outputs, without[0])
    features, first = split(found.cpu().numpy())
    np.testing.assert_array_equal(features, without[1].cpu())
    for sample, (_, _, expected) in enumerate(zip(*defined(layer, kinds), strict=True)):
        np.testing.assert_allclose(first[sample], expected, atol=error, rtol=0)


def test_features_do_not_change_from_run_to_run():
    layer, kinds = layer_of([70, 33])
    first, second = (FusedReader(kinds, DEVICE)(layer) for _ in range(2))
    assert all(torch.equal(*each) for each in zip(first, second, strict=True))


def test_a_mask_that_hides_more_is_left_to_the_plain_path():
    layer, kinds = layer_of([20, 9])
    reader = FusedReader(kinds, DEVICE)
    assert reader(layer) is not None
    near = torch.ones_like(layer.mask).tril(4).triu(-4)
    assert reader(Layer(layer.query, layer.key, layer.value, layer.mask & near, layer.scale)) is None


def test_a_whole_model_gives_the_same_with_and_without_the_kernel(monkeypatch):
    model, tokenizer = tiny_bert(layers=2, heads=2)
    samples = [Sample("", first, second) for first, second in QUESTIONS]
    encoded = encode_samples(samples, tokenizer, "question_answering", 64)
    inputs = model_inputs(encoded.input_ids, encoded.token_types, 0, DEVICE)
    model, calls = opened(model).to(DEVICE), []

    class EveryOther(FusedReader):
        """As where masks differ from layer to layer."""

        def __call__(self, layer):
            calls.append(layer)
            return super().__call__(layer) if len(calls) % 2 else None

    found = {}
    for name, kind in (("plain", None), ("kernel", FusedReader), ("mixed", EveryOther)):
        monkeypatch.setattr(
            reducer, "fused_reader", lambda kinds, layer, first, kind=kind: kind and kind(kinds, DEVICE, first)
        )
        features = DistanceFeatures(encoded.kinds, first=True)
        reader = reader_of([features], encoded.lengths, 2, 2, DEVICE)
        with torch.inference_mode():
            logits = run(model, inputs, reader).start_logits
        reader.finish("test")
        found[name] = features.result(), logits[inputs["attention_mask"].bool()].cpu().numpy()
    assert len(calls) == 2
    for name in ("kernel", "mixed"):
        for each, plain in zip(found[name], found["plain"], strict=True):
            np.testing.assert_allclose(each, plain, atol=1e-5, rtol=0)


def test_where_the_kernel_does_not_run_a_warning_says_why(monkeypatch):
    layer, kinds = layer_of([3])
    monkeypatch.setattr(fused_distance, "distance_kernel", None)
    fused_distance._runs.cache_clear()
    with pytest.warns(UserWarning, match="Triton, which PyTorch's builds for CUDA bring, is not installed"):
        assert not fused_distance._runs(torch.device("cuda"), torch.float32, 16, False)
    fused_distance._runs.cache_clear()
    assert fused_reader(kinds, Layer(layer.query.cpu(), None, None, None, 1.0)) is None


# The interpreter knows neither types nor registers.
COMPILE = """
import sys
from headtypes.analyses.distances import kernel as distance_kernel
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile

half, causal = sys.argv[1] == "half", sys.argv[2] == "causal"
types = {"kinds": "*i32", "lengths": "*i32", "by_offset": "*fp32", "to_special": "*fp32"}
types |= {"to_first": "*fp32", "features": "*fp32"}
types |= dict.fromkeys(("query", "key", "value", "special", "output"), "*bf16" if half else "*fp32")
types["scale"] = "fp32"
constants = {"HEAD_SIZE": 64, "CHANNELS": 64, "TILE": 64, "PRECISION": "tf32", "LEADING_BITS": -65536}
if not half:
    constants |= {"TILE": 32, "PRECISION": "ieee", "LEADING_BITS": -1}
constants |= {"CAUSAL": causal, "FIRST": causal, "BINS": 64, "KINDS": 4}
for kernel in (distance_kernel.read_rows, distance_kernel.fold_offsets):
    own = {name: value for name, value in constants.items() if name in kernel.arg_names}
    signature = {name: "constexpr" if name in own else types.get(name, "i32") for name in kernel.arg_names}
    done = compile(ASTSource(kernel, signature, own), target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})
    print(kernel.__name__, len(done.asm["cubin"]))
"""


@pytest.mark.parametrize("arguments", [("half", "full"), ("single", "causal")], ids=" ".join)
def test_the_kernels_compile_for_a_gpu(arguments, tmp_path):
    environment = {**os.environ, "TRITON_INTERPRET": "0", "TRITON_CACHE_DIR": str(tmp_path)}
    environment["PYTHONPATH"] = str(SCRIPTS)
    program = [sys.executable, "-c", COMPILE, *arguments]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["read_rows", "fold_offsets"]
