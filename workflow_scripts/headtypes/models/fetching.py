"""Models and tokenizers: found once and recorded, then loaded from the record without the network."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from transformers import AutoConfig, AutoTokenizer

from headtypes.core.errors import InputError, one_line, shortened
from headtypes.core.files import StrPath, read_json, sha256_file
from headtypes.core.installed import version_of
from headtypes.models.files import (
    MODEL_FILES,
    PICKLES,
    check_beside,
    checkpoint_in,
    model_files,
    place_of,
    pretrained,
    weight_files,
)
from headtypes.models.formats.gguf_files import check_gguf, read_header
from headtypes.models.formats.quantised import (
    DEQUANTISED,
    check_quantised,
    is_dequantised,
    numbers_in,
    quantisation_of,
    reader_of,
)
from headtypes.models.hub.snapshots import fetch_snapshot
from headtypes.models.model_config import describe, headed_layers, is_causal, key_value_heads, longest_input
from headtypes.models.outline import LAYERS, MOST_LABELS, check_outline, computes, outline_of
from headtypes.models.records import ModelRecord

# Far more than any model has; with 10**30, Transformers would begin to make them.
_MOST_LAYERS = 10_000
# Keys of a model's files by which Transformers reads other files in their place, wherever these are.
_POINTERS = {
    "config.json": ("configuration_files", "transformers_weights"),
    "tokenizer_config.json": ("fast_tokenizer_files",),
}
# Of tokenizer_config.json: where the tokenizer was read when it was saved; Transformers takes those beside it.
_SAVED_FROM = ("tokenizer_file", "special_tokens_map_file", "added_tokens_file")


def fetch_model(
    model: str,
    source: dict | None,
    made: str | None = None,
    step: int | None = None,
    sha256: str | None = None,
    units: str = "heads",
    attention: str = "encoder",
) -> ModelRecord:
    """Find a model's files, downloading them where they come from the Hub, and describe them.

    source: as in the configuration: hub with revision, or folder, or package with subfolder, or gguf, the path of a
        file, or with package its name in there; and pickle.
    made: the folder of a model that the workflow has made; it has no other source. step: number of updates of its
        training after which it is meant; None for the trained one.
    sha256: what that of its file of weights must be.
    units:  what counts as a head: heads (of queries), or key_value_heads, each with all heads that share it.
    attention: of an encoder with a decoder, the attention whose heads are read.
    Raises `InputError` when the files cannot be found, or are not a Transformer with a fast tokenizer that fits it, or
    its heads share no keys and are to be counted by them, or it has no such attention.
    """
    key = f"models.{model}"
    if made:
        source = {"folder": made if step is None else str(checkpoint_in(made, step))}
    pickle = source.get("pickle", False)
    if "hub" in source:
        otherwise = PICKLES if pickle else ()
        folder = fetch_snapshot(f"{key}.source", source["hub"], source.get("revision"), MODEL_FILES, otherwise)
        # The cache names a snapshot's folder by its commit.
        origin = {"hub": source["hub"], "revision": folder.name}
    else:
        folder = place_of(source)[0]
        if folder is None:
            raise InputError(f"{key}: there is no installed package {source['package']}; install it with pip.")
        origin = {"package": source["package"]} if "package" in source else {}
    gguf = place_of(source)[1]
    if gguf is not None:
        check_gguf(key, folder / gguf)
    # A file in GGUF holds all there is to load.
    beside = model_files(folder, pickle) if gguf is None else []
    others = [file for file in beside if file.suffix not in (".safetensors", ".bin")]
    files = weight_files(folder, pickle, gguf)
    if not files:
        remedy = (
            "and no pytorch_model.bin."
            if pickle
            else "and a pickle (pytorch_model.bin) can run code when it is opened; if you trust this model's pickle, "
            f"set {key}.source.pickle: true."
        )
        raise InputError(f"{key}: {folder} holds no model.safetensors, {remedy}")
    if gguf is None:
        _check_pointers(key, folder)
        _check_counts(key, folder)
    shape = _shape(key, folder, gguf, units, attention)
    check_outline(key, outline_of(key, folder, pickle, gguf))
    weights = {file.name: sha256_file(file) for file in files}
    pickled = files[0].suffix == ".bin"
    if sha256 is not None and len(files) > 1:
        raise InputError(
            f"{key}: {folder} holds its weights in {len(files)} files, and {key}.source.sha256 is "
            "that of a single file; leave it out."
        )
    if sha256 is not None and weights[files[0].name] != sha256:
        raise InputError(
            f"{key}: the SHA-256 of {files[0]} is {weights[files[0].name]}, not {sha256} as {key}.source.sha256 says."
        )
    return ModelRecord(
        name=model,
        **origin,
        folder=str(folder),
        weights=weights,
        files={file.name: sha256_file(file) for file in others},
        pickle=pickled,
        reader=reader_of(read_json(folder / "config.json")) if gguf is None else version_of("gguf"),
        parameters=sum(_numbers(model, file) for file in files),
        **shape,
    )


def _check_pointers(key: str, folder: Path) -> None:
    """Raise `InputError` where loading a model would read files that nobody has named, and so nobody has recorded."""
    for name, pointers in _POINTERS.items():
        contents = _said(folder / name)
        for pointer in pointers:
            if contents.get(pointer) is not None:
                raise InputError(
                    f"{key}: {folder} has the key {pointer} in its {name}, by which other files are read than those of "
                    "the usual names; remove the key, and give the files that you want these names."
                )
        for pointer, file in contents.items():
            if (
                pointer.endswith("_file")
                and pointer not in _SAVED_FROM
                and isinstance(file, str)
                and os.path.exists(file)
            ):
                raise InputError(
                    f"{key}: {folder} has the key {pointer} in its {name}, by which {shortened(file)} may be read; "
                    "remove the key, and put the file into the model's folder."
                )
        if str(contents.get("tokenizer_class")).startswith("MistralCommon"):
            raise InputError(
                f"{key}: {folder} has a tokenizer that the package mistral-common reads (tokenizer_class in its "
                f"{name}); save it as a fast tokenizer of Transformers, with a tokenizer.json."
            )
        if quantisation_of(contents) is not None and not (name == "config.json" and is_dequantised(contents)):
            raise InputError(
                f"{key}: {folder} has weights that are quantised (quantization_config in its {name}), whose numbers "
                f"depend on packages that are not recorded; name the model in floating-point numbers, or quantised as "
                f"one of {', '.join(DEQUANTISED)}, or a file in GGUF."
            )
        if is_dequantised(contents):
            check_quantised(key, folder, contents, weight_files(folder))
    check_beside(key, folder)


def _check_counts(key: str, folder: Path) -> None:
    """Raise `InputError` where config.json has a number of layers or labels that would take Transformers for ever."""
    contents = _said(folder / "config.json")
    for name in (*LAYERS, "num_labels"):
        value = contents.get(name)
        if isinstance(value, int) and value > (MOST_LABELS if name == "num_labels" else _MOST_LAYERS):
            raise InputError(
                f"{key}: {folder} says in its config.json that its {name} is {shortened(str(value))}; take the "
                "config.json that belongs to the weights."
            )


def _said(file: Path) -> dict:
    """What a file says; nothing where it cannot be read or is no object, which is reported where it is loaded."""
    with suppress(InputError, OSError):
        contents = read_json(file)
        return contents if isinstance(contents, dict) else {}
    return {}


def load_tokenizer(record: ModelRecord):
    """Load the fast tokenizer of a fetched model. Raises `InputError` where there is none, or its files changed."""
    check_files(record, record.files)
    return _tokenizer_of(f"models.{record.name}", record.folder, record.gguf)


def check_files(record: ModelRecord, expected: Mapping[str, str]) -> None:
    """Raise `InputError` where a model is no longer what was found when it was fetched.

    expected: SHA-256 by file, of `record.weights` or `record.files`; whether files are newer or older does not matter.
    """
    if set(record.weights) != {file.name for file in weight_files(record.folder, record.pickle, record.gguf)}:
        raise _changed(record, "the files of its weights are others than when it was fetched")
    if record.gguf is None:
        check_beside(f"models.{record.name}", record.folder)
    for name, digest in expected.items():
        file = Path(record.folder, name)
        if not file.is_file():
            raise _changed(record, f"{file} is no longer there")
        if sha256_file(file) != digest:
            raise _changed(record, f"{file} has changed since the model was fetched: its SHA-256 is another")


def _changed(record: ModelRecord, how: str) -> InputError:
    # The record lies at results/sources/models, wherever the results are.
    return InputError(
        f"models.{record.name}: {how}; put the right file back, or delete the model's record in results/sources/models "
        f"({record.name}.json; of a model that was fine-tuned here, delete {record.folder}), and run again."
    )


@contextmanager
def _loading(otherwise: str) -> Iterator[None]:
    """Turn any error of the tokenizers into an `InputError`; otherwise: what it says, before the reason."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # A panic of their code in Rust is no `Exception`.
        raise InputError(f"{otherwise} ({one_line(error)}); take the files that belong to the model.") from error


def _tokenizer_of(key: str, folder: StrPath, gguf: str | None):
    where = f"{key}: {Path(folder, gguf or '')}"
    with _loading(f"{where} has no tokenizer that loads"):
        # With the package mistral-common, tekken.json would be read by that one.
        tokenizer = AutoTokenizer.from_pretrained(**pretrained(folder, gguf), mistral_format=False)
        ordinary = len(tokenizer) - len(tokenizer.all_special_ids)
    if not tokenizer.is_fast:
        raise InputError(f"{where} has no fast tokenizer, which is needed for character offsets; add tokenizer.json.")
    # Where files are missing, Transformers makes a tokenizer that knows only its special tokens.
    if ordinary <= 0:
        raise InputError(f"{where} has a tokenizer that knows only special tokens; add tokenizer.json.")
    return tokenizer


def _numbers(model: str, file: Path) -> int:
    """How many numbers a file of weights holds, whatever their precision; for safetensors, read from the header."""
    try:
        if file.suffix == ".bin":
            return _numbers_of_pickle(file)
        if file.suffix == ".gguf":
            return sum(read_header(file).tensors.values())
        return numbers_in(file)
    except InputError as error:
        raise InputError(f"models.{model}: {error}") from None
    except Exception as error:  # Each format fails in its own ways.
        raise InputError(f"models.{model}: {file} is damaged ({one_line(error)}); fetch it again.") from error


def _numbers_of_pickle(file: Path) -> int:
    # Imports PyTorch, which other models do not need at this point.
    from transformers.modeling_utils import load_state_dict

    tensors = load_state_dict(file, weights_only=True)
    for name, tensor in tensors.items():
        if computes(name) and not tensor.is_floating_point():
            raise InputError(f"{file} holds {name} as {tensor.dtype}; name weights that are floating-point numbers.")
    return sum(tensor.numel() for tensor in tensors.values())


def _shape(key: str, folder: StrPath, gguf: str | None, units: str, attention: str) -> dict:
    """The fields of `ModelRecord` that config.json and the tokenizer give; also checks that these two fit together."""
    where = f"{key}: {Path(folder, gguf or '')}"
    needed = ("vocab_size", "num_hidden_layers", "num_attention_heads")
    try:
        config = AutoConfig.from_pretrained(**pretrained(folder, gguf))
        lacking = [key for key in needed if not hasattr(config, key)]
    except Exception as error:  # Each configuration class checks in its own way.
        what = "config.json" if gguf is None else "architecture"
        raise InputError(f"{where} has no {what} that loads ({one_line(error)}).") from error
    if lacking:
        raise InputError(f"{where} is not a Transformer that reads text: its config.json lacks {', '.join(lacking)}.")
    counts = (config.num_hidden_layers, config.num_attention_heads)
    if not all(type(count) is int and count > 0 for count in counts) or counts[0] > _MOST_LAYERS:
        raise InputError(
            f"{where} says in its config.json that it has {shortened(str(config.num_hidden_layers))} layers of "
            f"{shortened(str(config.num_attention_heads))} heads; take the config.json that belongs to the weights."
        )
    positions = getattr(config, "max_position_embeddings", None)
    if positions is not None and (type(positions) is not int or positions < 0):
        raise InputError(
            f"{where} has max_position_embeddings {shortened(repr(positions))} in its config.json, which is not a "
            "number of tokens; correct it."
        )
    named = config.architectures
    if named is not None and not (isinstance(named, list) and all(isinstance(name, str) for name in named)):
        raise InputError(
            f"{where} has architectures in its config.json that are not a list of names; correct or remove them."
        )
    tokenizer = _tokenizer_of(key, folder, gguf)
    longest = tokenizer.model_max_length
    if isinstance(longest, bool) or not isinstance(longest, int | float) or not longest >= 1:
        raise InputError(
            f"{where} has model_max_length {shortened(repr(longest))} in its tokenizer_config.json, which is not a "
            "number of tokens; correct or remove it."
        )
    # What is put around texts has ids of its own in tokenizer.json, which need not be those of the vocabulary.
    with _loading(f"{where} has a tokenizer that cannot read a text"):
        around = [tokenizer(*texts, truncation=False, padding=False) for texts in (("a",), ("a", "a"))]
    largest = max([*tokenizer.get_vocab().values(), *(id_ for encoded in around for id_ in encoded["input_ids"])])
    if largest >= config.vocab_size:
        raise InputError(
            f"{where} has a tokenizer that does not fit the model: its largest token id is {largest}, and the model "
            f"has embeddings for {config.vocab_size} tokens."
        )
    segments = max(id_ for encoded in around for id_ in encoded.get("token_type_ids", [0]) or [0])
    known = getattr(config, "type_vocab_size", None) or segments + 1
    if segments >= known:
        raise InputError(
            f"{where} has a tokenizer that does not fit the model: it gives texts the segment id {segments}, and the "
            f"model has embeddings for {known} segments."
        )
    if attention != "encoder" and not config.is_encoder_decoder:
        raise InputError(f"{key}.attention: it is no encoder with a decoder; leave the key out.")
    describe(config, attention)
    heads = config.num_attention_heads
    if units == "key_value_heads":
        heads = key_value_heads(config)
        if heads == config.num_attention_heads:
            raise InputError(
                f"{key}.units: each of the {heads} heads of a layer has keys and values of its own, so that key-value "
                "heads are the heads themselves; leave the key out."
            )
    return {
        "model_type": config.model_type,
        "architectures": config.architectures,
        "layers": len(headed_layers(config)),
        "heads": heads,
        "queries_per_head": config.num_attention_heads // heads,
        "attention": attention,
        "causal": is_causal(config) or attention == "decoder",
        # If config.json does not give the width, the usual 64 channels per head are assumed.
        "width": getattr(config, "hidden_size", 64 * config.num_attention_heads),
        "max_length": longest_input(config, tokenizer),
    }
