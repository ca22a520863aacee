"""Attention maps and divergences as text that a browser unpacks: rounded to few bits, compressed, in base64."""

import base64
import gzip

import numpy as np
from jaxtyping import Float

_LEVELS, _SCALES = 255, 65535


def pack(numbers: bytes) -> str:
    """Bytes as text: equal bytes give equal text."""
    return base64.b64encode(gzip.compress(numbers, compresslevel=6, mtime=0)).decode()


def pack_maps(attention: Float[np.ndarray, "layer head query key"]) -> bytes:
    """Attention in 8 bits of each row's largest value: every number within 1/510 of that largest value.

    returns the largest value of each row, uint16 little-endian in units of 1/65535, then a byte for each number, as
    its share of that largest value in units of 1/255. Rounding the scale adds at most 1/131070 to a number's error.
    """
    largest = attention.max(axis=-1)
    scale = np.rint(largest * _SCALES)
    rows = np.maximum(scale / _SCALES, 1 / _SCALES)[..., None]
    levels = np.minimum(np.rint(attention / rows * _LEVELS), _LEVELS)
    return scale.astype("<u2").tobytes() + levels.astype(np.uint8).tobytes()


def pack_lengths(lengths: Float[np.ndarray, "layer head key"]) -> bytes:
    """Lengths of what tokens hand over, uint16 little-endian, each in units of 1/65535 of the head's largest."""
    largest = lengths.max(axis=-1, keepdims=True)
    return np.rint(lengths / np.where(largest > 0, largest, 1) * _SCALES).astype("<u2").tobytes()


def pack_divergence(divergence: Float[np.ndarray, "head head"]) -> tuple[str, float]:
    """Divergences in 16 bits of the largest, uint16 little-endian, as text; and the largest, in nats."""
    largest = float(divergence.max())
    levels = np.rint(divergence / (largest or 1) * _SCALES)
    return pack(levels.astype("<u2").tobytes()), largest
