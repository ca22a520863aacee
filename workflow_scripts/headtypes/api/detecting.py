"""Which heads of a loaded model attend by position, or to tokens that have stood before."""

import pandas as pd
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from headtypes.analyses.detectors.measure import read_detectors
from headtypes.analyses.detectors.results import detector_table
from headtypes.analyses.detectors.sequences import draw_sequences
from headtypes.api.reading import check_evaluating, longest_of


def detect_heads(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    *,
    sequences: int = 32,
    length: int = 32,
    least: float = 0.1,
    seed: int = 0,
    max_length: int | None = None,
    batch_tokens: int = 4096,
) -> pd.DataFrame:
    """Test every head of a loaded model by every detector, on random tokens (Olsson et al. 2022).

    model:  in evaluation mode, on any device; afterwards it is as before.
    sequences, length: how many sequences are drawn, and tokens of half of one.
    least:  share of its attention by which a head that is detected exceeds the null.
    max_length: tokens of the longest input; by default what model and tokenizer take.
    batch_tokens: padded tokens of a batch.
    returns one row for each detector, layer and head (from 0), as `results/detectors/{model}.csv` has them
        (`detectors.results.detector_table`): score, null, difference with its interval, p, corrected_p, detected.
    Raises `InputError` where sequences of this length cannot be drawn, or the model's heads cannot be read.
    """
    check_evaluating(model)
    name = type(model).__name__
    drawn = draw_sequences(
        tokenizer,
        sequences=sequences,
        length=length,
        max_length=longest_of(model, tokenizer, max_length),
        seed=seed,
        model=name,
    )
    scores = read_detectors(model.base_model, drawn, batch_tokens=batch_tokens, what=f"{name} on random tokens")
    return detector_table(scores, least=least, seed=seed)
