"""The settings of fine-tuning."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveFloat

STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
Positive = Annotated[int, Field(ge=1)]  # of things of which there has to be one


class Learning(BaseModel):
    """The settings of fine-tuning that a user can choose.

    The defaults are those of Devlin et al. 2019 for SQuAD v1.1 (section 4.2, run_squad). For sentence pairs, Devlin et
    al. used 3 epochs, batches of 32, and the best of four learning rates, 2e-5 among them (section 4.1). Inputs of
    pairs had 128 tokens (the released run_classifier).
    """

    model_config = {**STRICT, "use_attribute_docstrings": True}

    learning_rate: PositiveFloat = 5e-5
    """Peak learning rate: it rises over the first tenth of the steps and then decays linearly to zero."""
    batch_size: Positive = 32
    """Inputs per update."""
    epochs: PositiveFloat = 3.0
    """Passes over the training data."""
    max_seq_length: Annotated[int, Field(ge=16)] = 384
    """Most tokens of an input; longer contexts are cut into windows, longer pairs are cut off."""
    freeze_embeddings: bool = False
    """Whether the word embeddings stay as they are."""
    dropout: bool = True
    """Whether training uses dropout, at the rates that the checkpoint states. On a CPU, dropout takes a quarter of the
    time, and one pass over plenty of data does not need it."""
    bf16: bool = False
    """Whether forward passes compute in bfloat16 where that is safe and the processor has instructions for it; the
    weights stay float32."""


class FinetuningSettings(Learning):
    """All settings of fine-tuning: those of `Learning`, and the seed of all random draws."""

    seed: NonNegativeInt = 0
