"""Sums of x ln x, the one costly step of entropies and divergences."""

import numpy as np
import torch
from torch import Tensor

# Added before the logarithm, so that 0 ln 0 is 0; it changes no float32 above 1e-22.
_TINY = np.float32(1e-30)


class EntropySums:
    """Sums of x ln x over rows of numbers, with 0 ln 0 = 0; on a CPU, every call reuses the same memory."""

    def __init__(self):
        self._memory = np.empty(0, np.float32)

    def __call__(self, numbers: Tensor) -> Tensor:
        """The sum over the last dimension.

        numbers: [..., n] float32, none of them negative; they are left as they are.
        returns  [...] float32.
        """
        if numbers.device.type != "cpu":
            return -torch.special.entr(numbers).sum(-1)
        # NumPy's logarithm takes a quarter of the time of PyTorch's, and a product with it is a sum over each row.
        read = numbers.numpy()
        if self._memory.size < read.size:
            self._memory = np.empty(read.size, np.float32)
        logarithm = self._memory[: read.size].reshape(read.shape)
        np.log(np.add(read, _TINY, out=logarithm), out=logarithm)
        return torch.from_numpy(np.matmul(read[..., None, :], logarithm[..., None])[..., 0, 0])
