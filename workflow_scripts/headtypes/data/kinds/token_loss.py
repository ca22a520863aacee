"""Kinds of task of which a model predicts tokens, and is scored by its loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headtypes.core.errors import InputError
from headtypes.data.kinds.metrics import LOSS, SIZES
from headtypes.data.kinds.protocol import Kind, Scored

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from headtypes.data.windows import Windows
    from headtypes.models.records import ModelRecord


class TokenLoss(Kind):
    """A kind whose windows have targets of their own, the tokens to predict."""

    # There are no question and context, and in a causal layer padding would be a look at what is to be predicted.
    without_reading = ("sentences", "uniform_over_padding")
    metrics = (LOSS,)

    def answer_targets(self, rows: Sequence, windows: Windows, record: ModelRecord) -> np.ndarray:
        """How many tokens of each window are to be predicted, -1 for none; `windows` has them: [window, 1] int64."""
        import numpy as np

        tokens = windows.predicted_tokens[:, None]
        return np.where(tokens > 0, tokens, -1)

    def score_answers(
        self, rows: Sequence, windows: Windows, record: ModelRecord, values: tuple[np.ndarray, ...]
    ) -> Scored:
        """No answers, and a row for each text that has tokens to predict: id, loss and tokens, summed over it."""
        import numpy as np
        import pandas as pd

        texts = len(windows.question_ids)
        loss, tokens = (np.bincount(windows.question, value, texts) for value in values)
        scores = pd.DataFrame({"id": windows.question_ids, "loss": loss, SIZES: tokens.astype(np.int64)})
        scores = scores[scores[SIZES] > 0].reset_index(drop=True)
        if scores.empty:
            raise InputError(f"None of the {self.counted} has a token to predict; evaluate the model on more of them.")
        return {}, scores

    def mean_scores(self, scores: pd.DataFrame) -> dict[str, float | int]:
        """The mean loss of a token in nats, the perplexity, and how many texts and tokens there are."""
        import numpy as np

        tokens = int(scores[SIZES].sum())
        loss = float(scores["loss"].sum() / tokens)
        return {"loss": loss, "perplexity": float(np.exp(loss)), f"n_{self.counted}": len(scores), "n_tokens": tokens}
