"""Models and tokenizers: found once and recorded, then loaded from the record without the network."""

import importlib.util
from pathlib import Path

import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from transformers import AutoConfig, AutoModel, AutoModelForQuestionAnswering, AutoTokenizer
from transformers.utils import logging as transformers_logging

from headtypes.attention import ATTENTION
from headtypes.errors import InputError
from headtypes.files import read_json, sha256_file

# Families that number positions from the padding token's id upwards, so that fewer positions are left.
_POSITIONS_AFTER_PADDING = {"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "data2vec-text", "mpnet"}

# What a load report says reaches the user as one sentence instead; a bar of seconds only fills the log.
transformers_logging.disable_progress_bar()
transformers_logging.set_verbosity_error()


def fetch_model(model: str, source: dict) -> dict:
    """Find a model's files, downloading them where they come from the Hub, and describe them.

    source: as in the configuration: hub with revision, or folder, or package with subfolder; and sha256.
    returns the record that `load_tokenizer` and `load_model` read: name, source, revision as resolved, folder,
        SHA-256 of the weights, and the shape (model_type, layers, heads, limit in tokens).
    Raises `InputError` when the files cannot be had, or are not a Transformer with a fast tokenizer that fits.
    """
    if "hub" in source:
        folder = _download(model, source["hub"], source.get("revision"))
        # The cache names a snapshot's folder by its commit.
        origin = {"hub": source["hub"], "revision": folder.name}
    elif "package" in source:
        spec = importlib.util.find_spec(source["package"])
        if spec is None:
            raise InputError(f"models.{model}: the package {source['package']} is not installed; install it with pip.")
        folder = Path(spec.submodule_search_locations[0], source["subfolder"])
        origin = {"package": source["package"], "revision": None}
    else:
        folder, origin = Path(source["folder"]), {"folder": source["folder"], "revision": None}
    weights = {file.name: sha256_file(file) for file in sorted(folder.glob("*.safetensors"))}
    if not weights:
        raise InputError(f"models.{model}: {folder} holds no .safetensors file; save the model as safetensors.")
    expected = source.get("sha256")
    if expected is not None and weights.get("model.safetensors") != expected:
        raise InputError(
            f"models.{model}: the SHA-256 of {folder / 'model.safetensors'} is "
            f"{weights.get('model.safetensors')}, not {expected} as models.{model}.source.sha256 says."
        )
    record = {"name": model, **origin, "folder": str(folder), "weights": weights}
    return {**record, **_shape(record)}


def read_model_record(path: str | Path) -> dict:
    """Read what `fetch_model` found. Raises `InputError` where the files have gone since."""
    record = read_json(path)
    if not Path(record["folder"]).is_dir():
        raise InputError(
            f"{path}: {record['folder']} is no longer there; delete {path} and run again to fetch the model anew."
        )
    return record


def load_tokenizer(record: dict):
    """Load the fast tokenizer of a fetched model."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(record["folder"], local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"models.{record['name']}: {record['folder']} has no tokenizer that loads ({error}).") from error
    if not tokenizer.is_fast:
        raise InputError(f"models.{record['name']}: a fast tokenizer is needed, for character offsets; add tokenizer.json.")
    return tokenizer


def load_model(record: dict, precision: str, head: str | None = None) -> torch.nn.Module:
    """Load a fetched model for inference, its attention open to `headtypes.attention`.

    precision: float32, bfloat16 or float16, whatever the file holds.
    head: None for the bare encoder, or question_answering.
    returns the model in evaluation mode, on the GPU where there is one.
    Raises `InputError` when the head is not in the weights or the architecture has no attention interface.
    """
    name = record["name"]
    auto = AutoModelForQuestionAnswering if head == "question_answering" else AutoModel
    try:
        model, report = auto.from_pretrained(
            record["folder"],
            dtype=getattr(torch, precision),
            attn_implementation=ATTENTION,
            local_files_only=True,
            use_safetensors=True,
            output_loading_info=True,
        )
    except ValueError as error:
        if "attn_implementation" in str(error) or "attention" in str(error).lower():
            raise InputError(
                f"models.{name}: the architecture {record['model_type']} does not support Transformers' attention "
                "interface, through which heads are read and ablated."
            ) from error
        raise InputError(f"models.{name}: {record['folder']} does not load ({_first_line(error)}).") from error
    except (OSError, RuntimeError) as error:
        raise InputError(f"models.{name}: {record['folder']} does not load ({_first_line(error)}).") from error
    # Poolers are no part of any head that is used here.
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)
    if missing:
        what = "question-answering head" if head else "complete encoder"
        raise InputError(
            f"models.{name}: {record['folder']} has no {what}: its weights lack {', '.join(missing[:3])}"
            f"{' and others' if len(missing) > 3 else ''}. Name a model that was fine-tuned for the task."
        )
    return model.eval().to(device())


def device() -> torch.device:
    """The GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _download(model: str, repository: str, revision: str | None) -> Path:
    key = f"models.{model}.source"
    wanted = ["*.json", "*.txt", "*.model", "*.safetensors"]
    try:
        return Path(snapshot_download(repository, revision=revision, allow_patterns=wanted))
    except RevisionNotFoundError as error:
        raise InputError(f"{key}.revision: {repository} has no revision {revision} on the Hub.") from error
    except GatedRepoError as error:
        raise InputError(f"{key}.hub: {repository} asks for its terms to be accepted; log in with `hf auth login`.") from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise InputError(f"{key}.hub: there is no model {repository} on the Hub.") from error
    except (LocalEntryNotFoundError, OfflineModeIsEnabled, HfHubHTTPError, OSError) as error:
        raise InputError(
            f"{key}.hub: {repository} is not in the local cache and the Hub cannot be reached; connect once, or give "
            "a local folder instead."
        ) from error


def _shape(record: dict) -> dict:
    """Layers, heads and limit in tokens; that the tokenizer belongs to the model is checked on the way."""
    name, folder = record["name"], record["folder"]
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"models.{name}: {folder} has no config.json that loads ({_first_line(error)}).") from error
    tokenizer = load_tokenizer(record)
    largest = max(tokenizer.get_vocab().values(), default=-1)
    if largest >= config.vocab_size:
        raise InputError(
            f"models.{name}: the tokenizer does not fit the model: its largest token id is {largest}, and the model "
            f"has embeddings for {config.vocab_size} tokens."
        )
    limit = getattr(config, "max_position_embeddings", None) or 10**9
    if config.model_type in _POSITIONS_AFTER_PADDING:
        limit -= (config.pad_token_id or 0) + 1
    return {
        "model_type": config.model_type,
        "architectures": config.architectures,
        "layers": config.num_hidden_layers,
        "heads": config.num_attention_heads,
        "limit": min(limit, tokenizer.model_max_length),
    }


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
