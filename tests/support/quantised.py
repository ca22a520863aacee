"""Models whose weights are stored quantised, by what their formats say and not by the packages that write them."""

import json

import torch
from safetensors.torch import load_file, save_file


def saved(model, tokenizer, folder, quantise, config):
    """Save a model whose weights `quantise` changes; returns the floating-point numbers that they stand for."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    stored, expected = {}, {}
    for name, weight in load_file(folder / "model.safetensors").items():
        of_weight, expected[name] = quantise(name, weight) or ({name: weight}, weight)
        stored |= of_weight
    save_file(
        {name: value.contiguous() for name, value in stored.items()}, folder / "model.safetensors", {"format": "pt"}
    )
    contents = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**contents, "quantization_config": config}))
    return expected


def packed(codes, bits):
    """Rows of codes as streams of bits, the least first, in words of 32 bits."""
    stream = (codes[..., None] >> torch.arange(bits) & 1).flatten(1)
    stream = torch.nn.functional.pad(stream, (0, -stream.shape[1] % 32)).unflatten(1, (-1, 32))
    # As signed numbers of 32 bits.
    return (stream << torch.arange(32)).sum(-1).to(torch.int32)


def compressed(
    bits, inputs=None, outputs=1, symmetric=True, stored="pack-quantized", factor=torch.float32, of_texts=None
):
    """One of the formats of compressed-tensors.

    inputs, outputs: how many of each share a factor, all inputs if None; factor: the type of these; of_texts: how
    activations are quantised.
    """

    def quantise(name, weight):
        if not name.endswith("_proj.weight"):
            return None
        rows, columns = weight.shape
        generator = torch.Generator().manual_seed(len(name))
        codes = torch.randint(2**bits, weight.shape, generator=generator)
        grid = rows // outputs, columns // (inputs or columns)
        factors = (0.01 * torch.rand(grid, generator=generator)).to(factor)
        zeros = torch.full(grid, 2 ** (bits - 1))
        if not symmetric:
            zeros = torch.randint(2**bits, grid, generator=generator)
        of_each, zero_of_each = (
            each.repeat_interleave(outputs, 0).repeat_interleave(inputs or columns, 1) for each in (factors, zeros)
        )
        numbers = codes - zero_of_each
        module = name.removesuffix("weight")
        parts = {f"{module}weight_scale": factors}
        if stored == "pack-quantized":
            parts[f"{module}weight_packed"] = packed(codes, bits)
            parts[f"{module}weight_shape"] = torch.tensor([rows, columns])
            if not symmetric:
                parts[f"{module}weight_zero_point"] = packed(zeros.T, bits).T
        elif stored != "float-quantized":
            parts[name] = numbers.to(torch.int8)
        else:
            parts[name] = numbers = weight.to(torch.float8_e4m3fn)
        if of_texts is not None and not of_texts["dynamic"]:
            parts[f"{module}input_scale"] = torch.ones(1)
        # In the precision of the factors.
        return parts, (numbers.to(factor) * of_each).float()

    how = {"num_bits": bits, "symmetric": symmetric, "dynamic": False}
    how["type"] = "float" if stored == "float-quantized" else "int"
    if outputs > 1:
        how |= {"strategy": "block", "block_structure": [outputs, inputs]}
    else:
        how |= {"strategy": "channel"} if inputs is None else {"strategy": "group", "group_size": inputs}
    return quantise, {
        "quant_method": "compressed-tensors",
        "format": stored,
        "quantization_status": "compressed",
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": how, "input_activations": of_texts}},
        "ignore": ["lm_head"],
    }


_PER_TOKEN = {"num_bits": 8, "type": "int", "strategy": "token", "dynamic": True}
_FIXED = {"num_bits": 8, "type": "float", "strategy": "tensor", "dynamic": False}
COMPRESSED = {
    "4 bits": compressed(4, 4),
    "4 bits with zero points": compressed(4, 4, symmetric=False),
    "3 bits, across words": compressed(3),
    "4 bits, factors of 16": compressed(4, 4, factor=torch.bfloat16),
    "8 bits": compressed(8, stored="naive-quantized"),
    "8 bits, activations too": compressed(8, stored="int-quantized", of_texts=_PER_TOKEN),
    "8 bits of floating point": compressed(8, stored="float-quantized", of_texts=_FIXED),
    "8 bits of floating point, in blocks": compressed(8, 4, 2, stored="float-quantized"),
}
