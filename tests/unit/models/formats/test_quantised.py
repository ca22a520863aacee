"""Quantised weights are the floating-point numbers that their formats define, in every precision and every job."""

from importlib.util import find_spec

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from headtypes.analyses.distances.reducer import DistanceFeatures
from headtypes.attention.one_pass import read_attention
from headtypes.core.errors import InputError
from headtypes.data.encoding import encode_samples
from headtypes.data.records import Sample
from headtypes.models.architectures import check_model
from headtypes.models.fetching import fetch_model
from headtypes.models.loading import load_model
from headtypes.models.outline import outline_of
from headtypes.training.finetuning import _load
from headtypes.training.settings import FinetuningSettings
from tests.support.models import QUESTIONS, tiny_language_model
from tests.support.quantised import COMPRESSED, saved

# The numbers of 4 bits of the Open Compute Project's microscaling formats: sign, two bits of exponent, one of mantissa.
E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
SAMPLES = [Sample(str(number), *question) for number, question in enumerate(QUESTIONS)]


def fp8(block):
    def quantise(name, weight):
        """Blocks of rows and columns, each with a factor (DeepSeek-AI 2024, section 3.3)."""
        if not name.endswith("_proj.weight"):
            return None
        grid = [-(-size // of_block) for size, of_block in zip(weight.shape, block, strict=True)]
        factors = 0.001 + torch.rand(grid, generator=torch.Generator().manual_seed(len(name)))
        of_numbers = factors.repeat_interleave(block[0], 0).repeat_interleave(block[1], 1)
        of_numbers = of_numbers[: weight.shape[0], : weight.shape[1]]
        numbers = (weight / of_numbers).to(torch.float8_e4m3fn)
        return {name: numbers, f"{name}_scale_inv": factors}, numbers.float() * of_numbers

    config = {"quant_method": "fp8", "weight_block_size": list(block), "activation_scheme": "dynamic"}
    return quantise, config


def mxfp4():
    def quantise(name, weight):
        """Blocks of 32 inputs of an expert, each with a power of two as its factor; two numbers in a byte."""
        if not name.endswith(("gate_up_proj", "down_proj")):
            return None
        experts, inputs, outputs = weight.shape
        generator = torch.Generator().manual_seed(len(name))
        codes = torch.randint(16, (experts, outputs, inputs // 32, 32), generator=generator, dtype=torch.uint8)
        powers = torch.randint(121, 126, codes.shape[:-1], generator=generator, dtype=torch.uint8)
        numbers = E2M1[codes.long()] * 2.0 ** (powers.float() - 127)[..., None]
        blocks = codes[..., 0::2] | codes[..., 1::2] << 4
        return {f"{name}_blocks": blocks, f"{name}_scales": powers}, numbers.flatten(2).transpose(1, 2)

    return quantise, {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}


def llama_in(how):
    def make(folder):
        model, tokenizer = tiny_language_model("llama")
        return model, saved(model, tokenizer, folder, *how)

    return make


def llama_in_fp8(folder, block=(4, 4)):
    model, tokenizer = tiny_language_model("llama")
    return model, saved(model, tokenizer, folder, *fp8(block))


def gpt_oss_in_mxfp4(folder):
    model, tokenizer = tiny_language_model("gpt_oss", hidden_size=32, intermediate_size=32)
    return model, saved(model, tokenizer, folder, *mxfp4())


with_package = pytest.mark.skipif(
    find_spec("compressed_tensors") is None, reason="compressed-tensors is not installed (docs/lookup/models.md)"
)


@pytest.mark.parametrize(
    "make",
    [
        llama_in_fp8,
        gpt_oss_in_mxfp4,
        *(pytest.param(llama_in(how), id=name, marks=with_package) for name, how in COMPRESSED.items()),
    ],
)
def test_a_quantised_model_is_that_of_the_numbers_that_its_format_defines(make, tmp_path):
    model, expected = make(tmp_path)
    record = fetch_model("tiny", {"folder": str(tmp_path)})
    check_model(record)
    assert record.parameters == sum(weight.numel() for weight in expected.values())
    assert outline_of("models.tiny", tmp_path).layers == 2
    for precision in ("float32", "bfloat16"):
        loaded = load_model(record, precision, "causal_lm").cpu()
        dtype = getattr(torch, precision)
        assert {weight.dtype for weight in loaded.parameters()} == {dtype}
        for name, weight in expected.items():
            assert loaded.state_dict()[name].equal(weight.to(dtype)), name
    model.load_state_dict(expected)
    loaded = load_model(record, "float32").cpu()
    encoded = encode_samples(SAMPLES, tiny_language_model(record.model_type)[1], "question_answering", 64)
    (found,), (plain,) = (
        read_attention(each, encoded, [DistanceFeatures(encoded.kinds)], batch_tokens=4096, what="test")
        for each in (loaded, model.base_model)
    )
    np.testing.assert_array_equal(found, plain)


def test_no_model_is_fine_tuned_from_quantised_weights(tmp_path):
    llama_in_fp8(tmp_path)
    record = fetch_model("tiny", {"folder": str(tmp_path)})
    with pytest.raises(InputError, match="from which no model is fine-tuned; name it in floating-point numbers"):
        _load(AutoModelForCausalLM, record, FinetuningSettings(), None)


def test_a_matrix_that_blocks_do_not_divide_is_refused(tmp_path):
    """Transformers would divide 24 rows with two factors into twice 12, where blocks have 16."""
    llama_in_fp8(tmp_path, (16, 4))
    with pytest.raises(InputError, match=r"_proj.weight as a matrix of \d+ by \d+ .* blocks of 16 by 4 do not divide"):
        fetch_model("tiny", {"folder": str(tmp_path)})
