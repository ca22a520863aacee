"""Names of what is read of attention, for planning as well: nothing is imported."""

from typing import Literal

# Attention as it leaves the softmax, or each token's share of the norms of what is handed over (`attention.norms`).
Of = Literal["weights", "norms"]
