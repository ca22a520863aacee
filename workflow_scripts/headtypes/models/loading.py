"""Fetched models as PyTorch modules."""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from transformers import AutoModel, AutoModelForQuestionAnswering, AutoModelForSequenceClassification
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
    MODEL_MAPPING_NAMES,
)

from headtypes.base.errors import InputError, one_line
from headtypes.models.fetching import check_files, check_padding
from headtypes.models.gpus import keep_to_one_gpu
from headtypes.models.records import ModelRecord
from headtypes.models.silence import silence_transformers

silence_transformers()


class Head(NamedTuple):
    """What a model answers with.

    auto:     the class that loads a model with this head.
    types:    the types of models that the class knows.
    in_words: the head, for messages.
    pooled:   whether it reads a single token of a sample, through a pooler where the model has one.
    """

    auto: type
    types: Mapping[str, str]
    in_words: str
    pooled: bool


HEADS = {
    None: Head(AutoModel, MODEL_MAPPING_NAMES, "complete model", False),
    "question_answering": Head(
        AutoModelForQuestionAnswering, MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES, "question-answering head", False
    ),
    "sequence_classification": Head(
        AutoModelForSequenceClassification, MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES, "classification head", True
    ),
}


def load_model(record: ModelRecord, precision: str, head: str | None = None) -> torch.nn.Module:
    """Load a fetched model for inference.

    precision: float32, bfloat16 or float16, whatever the file holds.
    head:      one of `HEADS`; None for the bare model.
    returns    the model in evaluation mode, on the GPU where there is one.
    Raises `InputError` when its files have changed since it was fetched, when it does not load, when it has no such
    head, or when the head is missing from the weights. Whether the heads can be read is checked by
    `architectures.check_model` and, when the model runs, by `hook.run`.
    """
    where = f"models.{record.name}: {record.folder}"
    auto, types, in_words, pooled = HEADS[head]
    if record.model_type not in types:
        raise InputError(f"{where}: Transformers has no {in_words} for {record.model_type} models; name another model.")
    if head is None and any(name.endswith("ForQuestionAnswering") for name in record.architectures or ()):
        # Some of these classes (Llama's) save the bare model under a name by which `AutoModel` does not find it.
        auto = AutoModelForQuestionAnswering
    check_files(record, {**record.weights, **record.files})
    try:
        model, report = auto.from_pretrained(
            record.folder,
            dtype=getattr(torch, precision),
            local_files_only=True,
            use_safetensors=not record.pickle,
            trust_remote_code=False,
            # Weights that do not fit are reported below, by name.
            ignore_mismatched_sizes=True,
            output_loading_info=True,
        )
    except Exception as error:  # Damaged files and unknown architectures fail in many ways.
        raise InputError(f"{where} does not load as a {record.model_type} model ({one_line(error)}).") from error
    if report["mismatched_keys"]:
        raise InputError(
            f"{where} has weights that do not fit its config.json, {min(report['mismatched_keys'])[0]} among them; "
            "take both from the same model."
        )
    missing = sorted(key for key in report["missing_keys"] if pooled or "pooler" not in key)
    if missing:
        raise InputError(
            f"{where} has no {in_words}: its weights lack "
            f"{', '.join(missing[:3])}{' and others' if len(missing) > 3 else ''}; name a model that was "
            f"{'fine-tuned for the task' if head else 'saved whole'}."
        )
    if pooled:
        check_padding(model.config, where)
    # No text is generated, so that caching the keys and values of all layers would only waste memory.
    model.config.use_cache = False
    model = model if head else model.base_model
    return model.eval().to(device())


def device() -> torch.device:
    """The GPU that this process has taken, where there is one, else the CPU."""
    keep_to_one_gpu()
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
