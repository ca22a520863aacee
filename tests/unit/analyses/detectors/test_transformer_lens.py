"""TransformerLens, where it is installed (docs/extend/development.md), gives every head the same scores."""

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer

from headtypes.analyses.detectors.measure import read_detectors
from headtypes.analyses.detectors.sequences import draw_sequences
from tests.support.models import opened, tiny_language_model

LENGTH = 12


def test_scores_are_those_of_transformer_lens(tmp_path):
    pytest.importorskip("transformer_lens")
    # It is a program beside ours, and no package that tests need.
    from transformer_lens.head_detector import detect_head
    from transformer_lens.model_bridge import TransformerBridge

    model, tokenizer = tiny_language_model("gpt2")
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    theirs = TransformerBridge.boot_transformers(str(tmp_path), tokenizer=AutoTokenizer.from_pretrained(tmp_path))
    drawn = draw_sequences(tokenizer, sequences=3, length=LENGTH, max_length=64, seed=1, model="tiny")
    table = read_detectors(opened(model), drawn, batch_tokens=512, what="tiny")

    def scores(sequence: int, pattern) -> np.ndarray:
        # Of one sequence, with no token before it; it divides by all rows, of which the second half is one in two.
        theirs.to_tokens = lambda _: torch.tensor([drawn.encoded.input_ids[sequence]])
        return 2 * detect_head(theirs, "", pattern).numpy().ravel()

    # The tokens before those in the middle, for which it has no name.
    middle = torch.zeros(2 * LENGTH, 2 * LENGTH)
    rows = torch.arange(LENGTH // 2, LENGTH // 2 + LENGTH)
    middle[rows, rows - 1] = 1
    for detector, first, pattern in (
        ("induction", 0, "induction_head"),
        ("duplicate", 0, "duplicate_token_head"),
        ("previous", 3, middle),
    ):
        of = table[table["detector"] == detector].sort_values(["layer", "head"])
        for sequence in range(3):
            ours = of.loc[of["sequence"] == sequence, "score"]
            np.testing.assert_allclose(ours, scores(first + sequence, pattern), atol=1e-5)
