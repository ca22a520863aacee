"""What the files of a model say of it before anything loads them.

Planning uses this for models that are on the disk, and the job that fetches a model for all others; so nothing heavy is
imported here.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headtypes.core.errors import InputError, one_line
from headtypes.core.files import StrPath, read_json
from headtypes.models.files import weight_files
from headtypes.models.formats.gguf_files import read_header
from headtypes.models.formats.quantised import as_loaded, is_dequantised

# Names of these numbers in config.json; older families have names of their own.
LAYERS = ("num_hidden_layers", "encoder_layers", "n_layer", "n_layers", "num_layers")
_HEADS = ("num_attention_heads", "encoder_attention_heads", "n_head", "n_heads", "num_heads")
# What says which kind each layer is, and the kinds that have no attention heads: convolutions, recurrences, and
# layers that have experts or a feed-forward network alone.
_KINDS = ("layer_types", "layers_block_type")
_HEADLESS = ("conv", "linear_attention", "mamba", "mlp", "moe", "recurrent")
# Where these stand instead, only Transformers tells.
_RULES = (
    "attn_layer_indices",
    "attn_layer_period",
    "block_types",
    "full_attention_interval",
    "full_attn_idxs",
    "hybrid_override_pattern",
)
# A layer's number is the first one in the name of its weights.
_IN_LAYER = re.compile(r"(.*?(?:^|\.))(\d+)(?=\.)")
# Of safetensors: numbers that a model computes with as they are.
_NUMBERS = ("F64", "F32", "F16", "BF16")
_MASKS = (".attn.bias", ".attention.bias")
# Far more than any classifier has.
MOST_LABELS = 1_000_000
_LONGEST_HEADER = 100_000_000


@dataclass(frozen=True)
class Outline:
    """A model as its files describe it; None for what they do not say.

    folder:  where they are; of a model in GGUF, its file.
    layers, heads: number of layers that have heads, and of heads in one of them.
    further: layers of which there are weights besides: those without heads, and those that Transformers leaves out.
    labels:  of a classifier, in the order of its logits.
    type:    its `model_type`.
    tensors: name of each tensor in the safetensors and the type of its numbers; empty for a pickle. Those of a file in
        GGUF become floating-point numbers when it is loaded, as do those that are `quantised`.
    decoder: whether it is one, of a type that has both; two_stacks: whether it is an encoder with a decoder.
    tied:    whether its output weights are its embeddings.
    whole:   whether its weights are not loaded piece by piece: a pickle, those in GGUF, or quantised ones.
    """

    folder: str
    layers: int | None
    heads: int | None
    further: int
    labels: tuple[str, ...] | None
    type: str | None
    tensors: Mapping[str, str]
    decoder: bool = False
    two_stacks: bool = False
    tied: bool | None = None
    whole: bool = False

    def with_heads(self, layers: int | None, heads: int | None) -> "Outline":
        """The same model, of which so many layers, and units in a layer, have or count as heads."""
        return replace(self, layers=layers, heads=heads)


def outline_of(key: str, folder: StrPath, pickle: bool = False, gguf: str | None = None) -> Outline:
    """Read what config.json and the heads of the safetensors in a folder say, or the header of its file in GGUF.

    key: of the model in the configuration, for messages; pickle: whether the weights may be a pickle.
    Raises `InputError` where config.json is not JSON, an index names what is not there, or the head of a file is
    damaged.
    """
    if gguf is not None:
        return _outline_of_gguf(key, Path(folder, gguf))
    try:
        config = read_json(Path(folder, "config.json"))
        files = weight_files(folder, pickle)
        headed = [file for file in files if file.suffix == ".safetensors"]
        tensors = {name: kind for file in headed for name, kind in _tensors(file).items()}
    except InputError as error:
        raise InputError(f"{key}: {error}") from None
    config = config if isinstance(config, dict) else {}
    labels, further = config.get("id2label"), _whole(config, ("num_nextn_predict_layers",)) or 0
    layers, with_heads = layers_said(config)
    return Outline(
        folder=str(folder),
        layers=with_heads,
        heads=heads_said(config),
        further=further if with_heads is None else further + layers - with_heads,
        labels=_labels(labels, config.get("num_labels")),
        type=config.get("model_type") if isinstance(config.get("model_type"), str) else None,
        tensors=as_loaded(config, tensors),
        decoder=config.get("is_decoder") is True,
        two_stacks=config.get("is_encoder_decoder") is True,
        tied=config.get("tie_word_embeddings"),
        whole=headed != files or is_dequantised(config),
    )


def _outline_of_gguf(key: str, file: Path) -> Outline:
    try:
        header = read_header(file)
    except InputError as error:
        raise InputError(f"{key}: {error}") from None
    counts = {name: header.of_model(name) for name in ("block_count", "attention.head_count")}
    architecture = header.values.get("general.architecture")
    return Outline(
        folder=str(file),
        layers=_whole(counts, ["block_count"]),
        heads=_whole(counts, ["attention.head_count"]),
        further=0,
        labels=None,
        type=architecture if isinstance(architecture, str) else None,
        tensors=dict.fromkeys(header.tensors, "F32"),
        whole=True,
    )


def check_outline(key: str, outline: Outline) -> None:
    """Raise `InputError` where the files of a model do not fit together, or hold numbers that are not its weights.

    key: of the model in the configuration, for messages.
    """
    where = f"{key}: {outline.folder}"
    for name, kind in outline.tensors.items():
        if computes(name) and kind not in _NUMBERS:
            raise InputError(
                f"{where} holds {name} as {kind}, which are not the numbers that a model computes with; name weights "
                f"that are {', '.join(_NUMBERS)}."
            )
    held = layers_in(outline.tensors)
    # A decoder may have more layers than its encoder.
    if outline.layers is not None and not outline.two_stacks and held > outline.layers + outline.further:
        raise InputError(
            f"{where} has weights of {held} layers, and its config.json says {outline.layers + outline.further}; take "
            "both from the same model."
        )


def layers_said(config: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """How many layers a config.json says there are, and how many of them have heads.

    None for what it does not say, or leaves to Transformers.
    """
    layers, kinds = _whole(config, LAYERS), next((config[name] for name in _KINDS if name in config), None)
    if isinstance(kinds, list) and kinds:
        layers = len(kinds) if layers is None else layers
    elif kinds is not None or any(config.get(name) is not None for name in _RULES):
        return layers, None
    return layers, layers if kinds is None else len(layers_with_heads(kinds))


def heads_said(config: Mapping[str, Any]) -> int | None:
    """How many heads a layer has, as a config.json says; None where it does not."""
    return _whole(config, _HEADS)


def layers_with_heads(kinds: Sequence[str]) -> list[int]:
    """Which of a model's layers have attention heads, from 0; kinds: of its layers, as `layer_types` in config.json."""
    return [layer for layer, kind in enumerate(kinds) if kind not in _HEADLESS]


def computes(tensor: str) -> bool:
    """Whether a tensor holds numbers that a model computes with, by its name; others are positions and masks."""
    # Old checkpoints of GPT-2 and its kin call the causal mask so.
    return tensor.endswith((".weight", ".bias", ".gamma", ".beta")) and not tensor.endswith(_MASKS)


def known_labels(names: Iterable[str]) -> dict[str, int]:
    """The index of each of a classifier's labels by how data may write it: its name, in lower case.

    Where a model has only Transformers' own names, LABEL_0 and so on, data have their numbers.
    """
    names = list(names)
    if names == [f"LABEL_{index}" for index in range(len(names))]:
        return {str(index): index for index in range(len(names))}
    return {name.casefold(): index for index, name in enumerate(names)}


def layers_in(tensors: Iterable[str]) -> int:
    """The number of layers of which there are weights, by their names; 0 where no name has a number."""
    numbers: dict[str, list[int]] = {}
    for name in tensors:
        if match := _IN_LAYER.match(name):
            numbers.setdefault(match[1], []).append(int(match[2][:9]))
    # Other lists of modules hold fewer weights.
    return 1 + max(max(numbers.values(), key=len)) if numbers else 0


def advice_on_labels(unknown: Iterable[Any]) -> str:
    """What to do where data have labels that a classifier does not know, with the line to write."""
    line = ", ".join(f"{json.dumps(str(label), ensure_ascii=False)}: ..." for label in unknown)
    return (
        f"write which of the model's each is into the task, as labels: {{{line}}}, or evaluate a model that was "
        "fine-tuned for these labels"
    )


def _whole(config: dict[str, Any], names: Iterable[str]) -> int | None:
    values = [config[name] for name in names if name in config]
    return values[0] if values and type(values[0]) is int else None


def _labels(labels: Any, number: Any) -> tuple[str, ...] | None:
    """The labels in their order; those of Transformers, which are two by default, where none are named."""
    if labels is None:
        number = number if type(number) is int else 2
        # More would take for ever; a model with them is refused where it is fetched.
        return tuple(f"LABEL_{index}" for index in range(number)) if number <= MOST_LABELS else None
    if not isinstance(labels, dict):
        return None
    try:
        return tuple(str(labels[str(index)]) for index in range(len(labels)))
    except KeyError:
        return None


def _tensors(file: Path) -> dict[str, str]:
    """The tensors of a safetensors file by its head: its length in eight bytes, then JSON."""
    try:
        with open(file, "rb") as data:
            length = int.from_bytes(data.read(8), "little")
            if length > _LONGEST_HEADER:
                raise ValueError(f"a head of {length} bytes")
            head = json.loads(data.read(length))
        return {name: tensor["dtype"] for name, tensor in head.items() if name != "__metadata__"}
    except Exception as error:  # Whatever the bytes lead to.
        raise InputError(f"{file} is damaged ({one_line(error)}); fetch it again.") from error
