"""Fetched models as PyTorch modules whose attention is open to `headtypes.attention`."""

import torch
from transformers import AutoModel, AutoModelForQuestionAnswering, AutoModelForSequenceClassification

from headtypes.attention import ATTENTION
from headtypes.errors import InputError, one_line
from headtypes.silence import silence_transformers

silence_transformers()

# The class that loads a model with each head, and the head in words.
_HEADS = {
    None: (AutoModel, "complete encoder"),
    "question_answering": (AutoModelForQuestionAnswering, "question-answering head"),
    "sequence_classification": (AutoModelForSequenceClassification, "classification head"),
}


def load_model(record: dict, precision: str, head: str | None = None) -> torch.nn.Module:
    """Load a fetched model for inference, its attention open to `headtypes.attention`.

    precision: float32, bfloat16 or float16, whatever the file holds.
    head: None for the bare encoder, or question_answering, or sequence_classification.
    returns the model in evaluation mode, on the GPU where there is one.
    Raises `InputError` when the model does not load, or the head is not in the weights. Whether the architecture
    uses the attention interface shows when it runs: `attention.run`.
    """
    where = f"models.{record['name']}: {record['folder']}"
    auto, in_words = _HEADS[head]
    try:
        model, report = auto.from_pretrained(
            record["folder"],
            dtype=getattr(torch, precision),
            attn_implementation=ATTENTION,
            local_files_only=True,
            use_safetensors=True,
            # What does not fit is reported below, by its name.
            ignore_mismatched_sizes=True,
            output_loading_info=True,
        )
    except Exception as error:  # Damaged files and unknown architectures fail in many ways.
        raise InputError(f"{where} does not load as a {record['model_type']} model ({one_line(error)}).") from error
    if report["mismatched_keys"]:
        raise InputError(
            f"{where} has weights that do not fit its config.json, {min(report['mismatched_keys'])[0]} among them; "
            "take both from the same model."
        )
    # Poolers are part of classification heads alone.
    needs_pooler = head == "sequence_classification"
    missing = sorted(key for key in report["missing_keys"] if needs_pooler or "pooler" not in key)
    if missing:
        raise InputError(
            f"{where} has no {in_words}: its weights lack "
            f"{', '.join(missing[:3])}{' and others' if len(missing) > 3 else ''}; name a model that was "
            f"{'fine-tuned for the task' if head else 'saved whole'}."
        )
    return model.eval().to(device())


def device() -> torch.device:
    """The GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
