"""Fetched models as PyTorch modules."""

import atexit
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import torch
from transformers import PreTrainedModel
from transformers.models.auto import modeling_auto as auto
from transformers.utils import logging

from headtypes.core.errors import InputError, told
from headtypes.models.fetching import check_files
from headtypes.models.model_config import body_of, check_padding, config_of
from headtypes.models.placement import GB, MEMORY, gpus_for, keep_to_gpus, usable_precision
from headtypes.models.records import ModelRecord

# Tensors of a model's body that may be left over: the pooler, and buffers that once were saved.
_UNREAD = re.compile(
    r"\bpooler\b|(^|\.)(attn\.(attention\.)?bias|masked_bias|causal_mask|inv_freq|position_ids|version|embed_positions\.\w+)$"
)

logging.disable_progress_bar()
logging.set_verbosity_error()


class MissingHeadError(InputError):
    """An error: a model lacks the model head (output layer) for a task."""

    def __init__(self, where: str, why: str, remedy: str):
        super().__init__(f"{where} {why}; {remedy}.")
        self.why = why


class Head(NamedTuple):
    """A kind of model head, which is the output layer for a task.

    auto: class of Transformers that loads a model with this head; types: {model type: name of its class}.
    in_words: name of the head, for messages; pooled: whether the head reads a single token of a sample.
    """

    auto: type
    types: Mapping[str, str]
    in_words: str
    pooled: bool = False


HEADS = {
    None: Head(auto.AutoModel, auto.MODEL_MAPPING_NAMES, "complete model"),
    "question_answering": Head(
        auto.AutoModelForQuestionAnswering, auto.MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES, "question-answering head"
    ),
    "sequence_classification": Head(
        auto.AutoModelForSequenceClassification,
        auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
        "classification head",
        pooled=True,
    ),
    "masked_lm": Head(auto.AutoModelForMaskedLM, auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES, "head for masked words"),
    "causal_lm": Head(auto.AutoModelForCausalLM, auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, "head for the next token"),
}


def load_model(record: ModelRecord, precision: str, head: str | None = None) -> torch.nn.Module:
    """Return a fetched model in evaluation mode, on the GPU if there is one.

    precision: float32, float16 or bfloat16; float32 replaces bfloat16 on a processor that is slow in bfloat16.
    head: output layer to load, a key of `HEADS` such as `masked_lm`. None loads the model without output layer, or the
        encoder of an encoder-decoder.
    Raises `InputError` if files changed or do not load, and `MissingHeadError` if the model lacks the output layer.
    """
    where = f"models.{record.name}: {record.folder}"
    loader, types, in_words, pooled = HEADS[head]
    check_files(record, {**record.weights, **record.files})
    config = config_of(record)
    if head and config.is_encoder_decoder:
        why = "is an encoder with a decoder, of which the encoder alone is read"
        raise MissingHeadError(where, why, f"leave models.{record.name}.evaluate out")
    if record.model_type not in types:
        why = f"has no {in_words} in Transformers"
        raise MissingHeadError(f"{where}, of type {record.model_type},", why, "name another model")
    if head == "causal_lm" and record.language_head != head:
        why = "reads a text both ways, and so predicts no token from those before it"
        raise MissingHeadError(where, why, "name a causal language model")
    if head is None and any(name.endswith("ForQuestionAnswering") for name in record.architectures or ()):
        # Some of these classes (Llama's) save the bare model under a name by which `AutoModel` does not find it.
        loader = auto.AutoModelForQuestionAnswering
    quantised = getattr(config, "quantization_config", None) is not None
    memory = MEMORY.get(record.name)
    # First, since PyTorch keeps to the GPUs that it sees when it first looks for one.
    keep_to_gpus(gpus_for(record.parameters, precision, memory))
    dtype = getattr(torch, usable_precision(precision, record.name))
    with told(f"{where} does not load as a {record.model_type} model"):
        model, report = loader.from_pretrained(
            **record.pretrained,
            config=config,
            dtype=dtype,
            use_safetensors=not record.pickle,
            ignore_mismatched_sizes=True,
            output_loading_info=True,
            **({} if memory is None else _placed(memory)),
        )
    if report["mismatched_keys"]:
        raise InputError(
            f"{where} has weights that do not fit its config.json, {min(report['mismatched_keys'])[0]} among them; "
            "take both from the same model."
        )
    check_left_over(where, model, report["unexpected_keys"])
    # A decoder is not read and may be missing; some models are published without one.
    unread = () if pooled else ("pooler", "decoder") if config.is_encoder_decoder else ("pooler",)
    missing = missing_weights(model, report, unread)
    if missing:
        lacking = f"{', '.join(missing[:3])}{' and others' if len(missing) > 3 else ''}"
        remedy = f"name a model that was {'fine-tuned for the task' if head else 'saved whole'}"
        why = f"has no {in_words}: its weights lack {lacking}"
        raise MissingHeadError(where, why, remedy)
    others = sorted(report["unexpected_keys"])
    own = (name for name, _ in model.named_parameters() if not name.startswith(f"{model.base_model_prefix}."))
    if head == "causal_lm" and others and not any(own):
        # Such a head is the embeddings, which every model has.
        why = f"has no {in_words}: its weights hold the head of another task, {others[0]}"
        raise MissingHeadError(where, why, "name a language model")
    if pooled:
        check_padding(model.config, where)
    if quantised:
        # Transformers leaves some of the other weights in the precision of the file.
        model.to(dtype)
    # No text is generated, so that caching the keys and values of all layers would only waste memory.
    model.config.use_cache = False
    model = (model if head else body_of(model)).eval()
    return model.to("cuda") if memory is None and torch.cuda.is_available() else model


def _placed(memory: Mapping[str, float]) -> dict[str, Any]:
    gpus = range(torch.cuda.device_count()) if "gpu" in memory else ()
    most = {gpu: int(memory["gpu"] * GB) for gpu in gpus}
    if "cpu" in memory:
        most["cpu"] = int(memory["cpu"] * GB)
    # Until the process ends: layers are read from there whenever they are computed.
    folder = tempfile.mkdtemp(prefix="headtypes-layers-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return {"device_map": "auto", "max_memory": most or None, "offload_folder": folder}


def missing_weights(model: PreTrainedModel, report: Mapping, unread: Iterable[str] = ("pooler",)) -> list[str]:
    """Return the sorted names of the weights that a model needs and that its files lack.

    report: loading information of `from_pretrained`; unread: parts of names of weights that are not needed.
    """
    return sorted(
        key
        for key in report["missing_keys"]
        if not any(name in key for name in unread)
        # Positions that are computed, and not saved (Marian).
        and "Sinusoidal" not in type(model.get_submodule(key.rpartition(".")[0])).__name__
    )


def check_left_over(where: str, model: PreTrainedModel, names: Iterable[str]) -> None:
    """Raise `InputError` if a model's files hold weights that were not loaded but change what the model computes.

    where: the model, for the message; names: names of all weights that were not loaded. Those of output layers for
        other tasks, poolers, decoders and computed buffers are allowed.
    """
    prefix, modules = f"{model.base_model_prefix}.", dict(model.named_modules())
    parts = dict(model.base_model.named_children())
    for name in sorted(names):
        path = name.removeprefix(prefix).split(".")
        is_unread = _UNREAD.search(name) or (model.config.is_encoder_decoder and "decoder" in path)
        of_body = name.startswith(prefix) or path[0] in parts or "lora_" in name
        owner = modules.get(name.rpartition(".")[0])
        of_head = owner is not None and next(owner.parameters(recurse=False), None) is not None
        if not is_unread and (of_body or of_head):
            raise InputError(
                f"{where} has weights that the model of its config.json does not take, {name} among them; take both "
                "from the same model, in floating point, and with adapters merged into it."
            )
