"""Distance features on a GPU: head outputs and features of a layer in one pass, where `kernel` applies.

Where it does not (no NVIDIA GPU, no Triton, a mask that hides more than padding and, in causal models, what comes
later), `distance` computes the features with PyTorch's own operations.
"""

import math
import warnings
from functools import cache

import numpy as np
import torch
from torch import Tensor

from headtypes.analyses.distances.columns import COLUMNS, FINE_BINS, first_columns
from headtypes.attention.hook import Layer
from headtypes.core.errors import one_line
from headtypes.data.tokens import SPECIAL_KINDS

try:
    # PyTorch's builds for CUDA bring Triton; the others do not need it.
    from headtypes.analyses.distances import kernel as distance_kernel
except ImportError:
    distance_kernel = None

# Columns of the one-hot kinds: the fewest that fill a tile of the tensor cores.
_KIND_COLUMNS = 16
# Mask of the bits of a float32 that each type can represent, as a signed integer.
_LEADING_BITS = {torch.float32: -1, torch.bfloat16: -(1 << 16), torch.float16: -(1 << 13)}
_LARGEST_HEAD = 128


def fused_reader(kinds: list[np.ndarray], layer: Layer, first: bool = False) -> "FusedReader | None":
    """A reader for a batch, given its first layer and the rest of its arguments; None where the kernel does not run.

    If there is an NVIDIA GPU but the kernel does not run on it, a warning says why, once.
    """
    device = layer.query.device
    # PyTorch calls AMD's GPUs by the same name.
    if device.type != "cuda" or torch.version.hip is not None:
        return None
    return FusedReader(kinds, device, first) if _runs(device, layer.query.dtype, layer.query.shape[-1], first) else None


@cache
def _runs(device: torch.device, dtype: torch.dtype, size: int, first: bool) -> bool:
    fault = _fault(device, dtype, size, first)
    if fault is not None:
        warnings.warn(
            f"Heads are read without the fused kernel, which takes longer and gives the same result: {fault}.",
            stacklevel=2,
        )
    return fault is None


def _fault(device: torch.device, dtype: torch.dtype, size: int, first: bool) -> str | None:
    """Why the kernel does not run, as tried on a few tokens; None where it does."""
    if distance_kernel is None:
        return "Triton, which PyTorch's builds for CUDA bring, is not installed"
    if torch.cuda.get_device_capability(device) < (8, 0):
        return "the GPU is older than NVIDIA's Ampere generation"
    try:
        tokens = torch.zeros(1, 16, 2, size, device=device, dtype=dtype).transpose(1, 2)
        FusedReader([np.zeros(16, dtype=np.int8)], device, first)(Layer(tokens, tokens, tokens, None, 1.0))
        torch.cuda.synchronize(device)
    except Exception as error:  # Compilers, drivers and the kernel's requirements fail in many ways.
        return one_line(error)
    return None


class FusedReader:
    """Reads the distance features of a batch's layers, each in one pass that leaves everything on the device.

    kinds: one array per sample of the batch, kinds of its real tokens [token]; padding stands at the end.
    first: whether the part of each feature that goes to the first token is read as well.
    """

    def __init__(self, kinds: list[np.ndarray], device: torch.device, first: bool = False):
        longest = max(map(len, kinds))
        padded = np.zeros((len(kinds), -(-longest // 64) * 64), dtype=np.int32)
        for row, of_sample in zip(padded, kinds, strict=True):
            row[: len(of_sample)] = of_sample
        self._lengths = torch.tensor([len(of_sample) for of_sample in kinds], dtype=torch.int32).to(device)
        self._kinds = torch.from_numpy(padded).to(device)
        self._one_hot: Tensor | None = None
        self._longest = longest
        self._first = torch.from_numpy(first_columns(kinds)).to(device) if first else None
        # By the identity of each mask of the batch: the mask, which must stay alive for that, and whether it is causal
        # (None: neither causal nor full).
        self._masks: dict[int, tuple[Tensor, bool | None]] = {}

    def __call__(self, layer: Layer) -> tuple[Tensor, Tensor] | None:
        """The head outputs [sample, head, token, channel] and features [sample, head, column] float32 of one layer.

        Outputs of padding are zero. After the features stand, where they are wanted, the parts of each that go to the
        first token: [sample, head, 2 x column]. None where the kernel does not apply to the layer.
        """
        query, key, value = layer.query, layer.key, layer.value
        if query.dtype not in _LEADING_BITS or query.shape[-1] > _LARGEST_HEAD or query.shape[-1] != value.shape[-1]:
            return None
        if not layer.is_plain:
            return None
        causal = self._causal(layer.mask)
        if causal is None:
            return None
        if self._one_hot is None:
            kinds = torch.arange(1, _KIND_COLUMNS + 1, device=query.device)
            self._one_hot = (self._kinds[..., None] == kinds).to(query.dtype)
        of_batch = (self._kinds, self._one_hot, self._lengths, self._first)
        return _launch(query, key, value, *of_batch, self._longest, layer.scale, causal)

    def _causal(self, mask: Tensor | None) -> bool | None:
        if mask is None:
            return False
        if id(mask) not in self._masks:
            self._masks[id(mask)] = mask, self._pattern(mask)
        return self._masks[id(mask)][1]

    def _pattern(self, mask: Tensor) -> bool | None:
        # Synchronises with the device once for each mask of a batch. Only what real tokens may see counts.
        mask = mask[:, 0, : self._longest, : self._longest]
        positions = torch.arange(self._longest, device=mask.device)
        real = positions < self._lengths[:, None]
        padding = ~(real[:, :, None] & real[:, None, :])
        everything = (mask | padding).all()
        causal = ((mask == (positions[:, None] >= positions)) | padding).all()
        full, lower = torch.stack([everything, causal]).tolist()
        return False if full else True if lower else None


def _launch(query, key, value, kinds, one_hot, lengths, first, longest, scale, causal) -> tuple[Tensor, Tensor]:
    query, key, value = (tensor if tensor.stride(-1) == 1 else tensor.contiguous() for tensor in (query, key, value))
    samples, heads, tokens, size = query.shape
    channels = max(16, 1 << (size - 1).bit_length())
    tile, options = _options(query.dtype, channels)
    row_blocks, padded = -(-tokens // tile), kinds.shape[1]
    slots = padded + tile
    # In the order that the layer's output projection reads.
    outputs = query.new_empty(samples, tokens, heads, size).transpose(1, 2)
    by_offset = query.new_empty((samples, heads, row_blocks, slots), dtype=torch.float32)
    to_special = query.new_empty((samples, heads, row_blocks, _KIND_COLUMNS), dtype=torch.float32)
    features = query.new_empty((samples, heads, COLUMNS), dtype=torch.float32)
    # Not written, nor read, where it is not wanted.
    to_first = query.new_empty((samples, heads, tokens if first is not None else 0), dtype=torch.float32)
    strides = [stride for tensor in (query, key, value, outputs) for stride in tensor.stride()[:3]]
    distance_kernel.read_rows[row_blocks, heads, samples](
        *(query, key, value, kinds, one_hot, lengths, outputs, by_offset, to_special, to_first),
        *(scale / math.log(2), *strides, tokens, padded, slots, heads // key.shape[1]),
        HEAD_SIZE=size,
        CHANNELS=channels,
        TILE=tile,
        CAUSAL=causal,
        FIRST=first is not None,
        PRECISION="ieee" if query.dtype == torch.float32 else "tf32",
        LEADING_BITS=_LEADING_BITS[query.dtype],
        **options,
    )
    distance_kernel.fold_offsets[heads, samples](
        *(by_offset, to_special, lengths, features, row_blocks, slots),
        TILE=tile,
        CAUSAL=causal,
        BINS=FINE_BINS,
        KINDS=len(SPECIAL_KINDS),
    )
    if first is None:
        return outputs, features
    of_first = to_first[:, :, :longest] @ first / lengths[:, None, None]
    return outputs, torch.cat([features, of_first], dim=-1)


def _options(dtype: torch.dtype, channels: int) -> tuple[int, dict]:
    """Rows and keys of a tile, and how its kernel is compiled."""
    if dtype == torch.float32:
        # Without tensor cores, which would round; products take registers instead, and tiles are not loaded ahead.
        return (32, {"num_warps": 4, "num_stages": 1}) if channels <= 64 else (32, {"num_warps": 8, "num_stages": 2})
    if channels <= 64:
        # With this many registers, a multiprocessor holds three blocks.
        return 64, {"num_warps": 4, "num_stages": 2, "maxnreg": 168}
    # Not loaded ahead either, to fit the shared memory of smaller GPUs.
    return 64, {"num_warps": 4, "num_stages": 1}
