"""How a model is fine-tuned: what the configuration lets a user choose, and what it leaves as it is."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Learning(BaseModel):
    """What a user may choose.

    The defaults are those of Devlin et al. 2019 for SQuAD v1.1 (section 4.2, run_squad). For sentence pairs they took 3
    epochs, batches of 32, the best of four learning rates, 2e-5 among them (section 4.1), and 128 tokens (the released
    run_classifier).
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    learning_rate: Annotated[float, Field(gt=0)] = 5e-5
    """Highest learning rate; from it, the rate falls to zero linearly."""
    batch_size: Annotated[int, Field(ge=1)] = 32
    epochs: Annotated[float, Field(gt=0)] = 3.0
    """Passes over the data."""
    warmup_share: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Share of the steps over which the learning rate rises."""
    max_seq_length: Annotated[int, Field(ge=16)] = 384
    """Tokens of an input; longer contexts are cut into windows, longer pairs are cut off."""
    freeze_embeddings: bool = False
    """Whether the word embeddings stay as they are."""
    bf16: bool = False
    """Whether forward passes compute in bfloat16 where that is safe; the weights stay float32."""


class FinetuningSettings(Learning):
    """All of it."""

    steps: Annotated[int, Field(ge=1)] | None = None
    """Number of updates; without it, as many as `epochs` passes over the data need."""
    max_query_length: Annotated[int, Field(ge=1)] = 64
    """Tokens of a question; a longer one is cut to its first."""
    doc_stride: Annotated[int, Field(ge=1)] = 128
    """Tokens by which each window of a context starts after the one before."""
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    seed: Annotated[int, Field(ge=0)] = 0
    checkpoint_seconds: Annotated[float, Field(ge=0)] = 45.0
    """How much work a kill may cost at most, but for the step that it falls in."""
