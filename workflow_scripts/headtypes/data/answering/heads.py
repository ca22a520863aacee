"""Models with the head that a kind of task needs."""

from transformers import PreTrainedModel

from headtypes.data.kinds.protocol import LANGUAGE_MODEL
from headtypes.data.kinds.registry import KINDS
from headtypes.models.language import language_head
from headtypes.models.loading import load_model
from headtypes.models.records import ModelRecord


def load_for(record: ModelRecord, precision: str, kind: str) -> PreTrainedModel:
    """Load a fetched model with the head that answers a kind of task; otherwise as `loading.load_model`."""
    head = KINDS[kind].head
    return load_model(record, precision, head=language_head(record) if head == LANGUAGE_MODEL else head)
