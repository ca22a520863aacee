"""Heads of a loaded model that attend by position, or to tokens that have stood before."""

from typing import Annotated

import pandas as pd
from pydantic import Field, NonNegativeInt, PositiveInt

from headtypes.analyses.detectors.analysis import LEAST, LENGTH, SEQUENCES
from headtypes.analyses.detectors.measure import draw_sequences, read_detectors
from headtypes.analyses.detectors.results import detector_table
from headtypes.api.arguments import Model, Tokenizer, alone, check_readable, checked, tokens_of_longest
from headtypes.models.model_config import body_of


@checked
def detect_heads(
    model: Model,
    tokenizer: Tokenizer,
    *,
    sequences: PositiveInt = SEQUENCES,
    length: Annotated[int, Field(ge=4)] = LENGTH,
    least: Annotated[float, Field(ge=0, le=1)] = LEAST,
    seed: NonNegativeInt = 0,
    max_length: PositiveInt | None = None,
    batch_tokens: PositiveInt = 4096,
) -> pd.DataFrame:
    """Test every head of a loaded model by every detector, on random tokens (Olsson et al. 2022).

    model:  in evaluation mode, on any device; afterwards it is as before.
    sequences, length: how many sequences are drawn, and tokens of half of one.
    least:  share of its attention by which a head that is detected exceeds the null.
    max_length, batch_tokens: tokens of the longest input, by default what model and tokenizer take, and of a batch.
    returns one row for each detector, layer and head (from 0), as `detectors.results.detector_table`: score, null,
        difference with its interval, p, corrected_p, detected.
    Raises `InputError` where sequences of this length cannot be drawn, or the model's heads cannot be read.
    """
    check_readable(model, tokenizer)
    name, max_length = type(model).__name__, tokens_of_longest(model, tokenizer, max_length)
    drawn = draw_sequences(tokenizer, sequences=sequences, length=length, max_length=max_length, seed=seed, model=name)
    what = f"{name} on random tokens"
    with alone(model):
        scores = read_detectors(body_of(model), drawn, batch_tokens=batch_tokens, what=what)
    return detector_table(scores, least=least)
