"""The atlas of a model as one HTML page, which holds maps and divergences rounded, compressed and in base64."""

import base64
import gzip
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from headtypes.analyses.ablation.intervals import read_intervals
from headtypes.analyses.declaration import WHOLE, Analysis, Column, rounded
from headtypes.analyses.distances.features import SELF_AND_SPECIAL, has_first_token, read_head_features, read_lengths
from headtypes.analyses.maps import AttentionMaps
from headtypes.analyses.registry import ANALYSES, analysis_named
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.style import type_styles
from headtypes.core.files import StrPath, read_json, undamaged, write_text
from headtypes.core.hdf5_files import read_groups
from headtypes.data.tasks import METRICS
from headtypes.models.records import ModelRecord, read_model_record
from headtypes.pages.rendering import embedded, render

# For each kind of result, the names (tasks or partitions) and files of those that there are.
ResultFiles = Mapping[str, Sequence[tuple[str, StrPath]]]
# Samples that a page shows, and base64 characters of all their maps; a page has some 12 MB then.
SAMPLES, LARGEST = 8, 11_300_000
_LEVELS, _SCALES = 255, 65535


def about_model(record: ModelRecord) -> dict:
    """Return facts about a model, {"name", "layers", "heads" (in a layer), "kind" (as bert), "from" (its source)}."""
    source = " ".join(filter(None, (record.hub or record.package, record.revision)))
    shape = {"layers": record.layers, "heads": record.heads}
    return {"name": record.name, **shape, "kind": record.model_type, "from": source}


def gather(
    model: Mapping,
    maps: Sequence[tuple[str, Sequence[AttentionMaps]]],
    files: ResultFiles,
    *,
    distance_bins: int,
    conditions: Mapping[str, Mapping[str, str]],
    first_token: bool = True,
) -> dict:
    """Return the data of an atlas, the page with every head of a model, as JSON values, heads listed layer by layer.

    model: the result of `about_model`.
    maps: (task, attention maps of its samples), the most important task first. The page shows at most eight samples and
        11.3 MB of maps, but at least one sample.
    files: {kind of result, a key of `stage.IN_ATLAS`: [(name, path)]}; any kind may be absent. A name is a task or a
        partition (the first is shown first); for users' own analyses, a name is (analysis, model, task).
    conditions: {name of a condition: {type, or head such as "3-12" (layer-head, from 1): operation}}.
    distance_bins: number of bins of the distance feature.
    first_token: whether the first token of a text without `[CLS]` counts as `[CLS]`.
    Raises `InputError` for a damaged file.
    """
    samples, packed = _samples(maps)
    columns = _columns(files)
    data = {
        "title": f"Heads of {model['name']}",
        "model": model,
        "main": next((name for name, _ in files.get("partitions", ())), None),
        "columns": [column.as_dict() for column in columns],
        "features": None,
        "divergences": [],
        "samples": samples,
        "costs": [cost for name, path in files.get("intervals", ()) for cost in _costs_of(path, name, conditions)],
        "names": _named_heads(files, model["heads"]),
        "packed": packed,
    }
    for task, path in files.get("features", ()):
        values, _ = read_head_features(path, distance_bins, first_token)
        of_first = first_token and has_first_token(path)
        data["features"] = numbers_on(task, values, read_lengths(path), distance_bins, of_first)
    for analysis in filter(lambda analysis: analysis.per_pair, ANALYSES):
        for task, path in _of_each_task(analysis, files):
            text, largest = pack_divergence(analysis.per_pair(path))
            data["divergences"].append({"task": task, "packed": len(packed), "largest": largest})
            packed.append(text)
    return data


def _columns(files: ResultFiles) -> list[Column]:
    return [
        *(type_column(name, read_partition(path)) for name, path in files.get("partitions", ())),
        *(type_column(name, read_partition(path), of_parent=True) for name, path in files.get("parents", ())),
        *(column for _, path in files.get("partitions", ())[:1] for column in share_columns(read_partition(path))),
        *(column for name, path in files.get("stability", ()) for column in _stability_columns(name, path)),
        *(
            column
            for analysis in sorted(ANALYSES, key=lambda analysis: not analysis.leads)
            if analysis.per_head
            for task, *paths in _of_each_task(analysis, files)
            for column in analysis.per_head(task, *paths)
        ),
        *(
            column
            for (analysis, _, task), path in files.get("own", ())
            for column in analysis_named(analysis).per_head(task, path)
        ),
    ]


def _samples(maps: Sequence[tuple[str, Sequence[AttentionMaps]]]) -> tuple[list[dict], list[str]]:
    # One sample of each task comes before a second of any.
    turns = max((len(of_task) for _, of_task in maps), default=0)
    ahead = [(task, of_task[turn]) for turn in range(turns) for task, of_task in maps if turn < len(of_task)]
    kept, size = [], 0
    for task, sample in ahead[:SAMPLES]:
        texts = [pack(pack_maps(sample.attention))]
        if sample.lengths is not None:
            texts.append(pack(_pack_lengths(sample.lengths)))
        size += sum(map(len, texts))
        if kept and size > LARGEST:
            break
        kept.append((task, sample, texts))
    tasks = [task for task, _ in maps]
    kept.sort(key=lambda entry: tasks.index(entry[0]))
    about, packed = [], []
    for task, sample, texts in kept:
        places = dict(zip(("packed", "lengths"), range(len(packed), len(packed) + len(texts)), strict=False))
        about.append({"task": task, "id": sample.sample_id, "tokens": sample.tokens, "cut": sample.truncated, **places})
        packed += texts
    return about, packed


def numbers_on(task: str, features: np.ndarray, lengths: np.ndarray, distance_bins: int, first_token: bool) -> dict:
    """Return the distance features of every head on a task, and facts on the samples, as a mapping of JSON values.

    features: [head, column], heads layer by layer. lengths: number of tokens of each sample.
    first_token: whether the column of `[CLS]` holds the attention to the first token.
    Keys: task, labels (of the columns), values (the features), samples (number of samples), short (number of samples
    with at most `distance_bins` tokens), empty (bins, from 0, that no pair of tokens falls into).
    """
    others = ["first" if first_token and name == "cls" else name for name in SELF_AND_SPECIAL]
    reached = {bin for length in set(map(int, lengths)) for bin in np.arange(1, length) * distance_bins // length}
    return {
        "task": task,
        "labels": [*map(str, range(distance_bins)), *others],
        "values": rounded(features),
        "samples": len(lengths),
        "short": int((np.asarray(lengths) <= distance_bins).sum()),
        "empty": [bin for bin in range(distance_bins) if bin not in reached],
    }


def _of_each_task(analysis: Analysis, files: ResultFiles) -> Iterator[tuple]:
    by_task = [dict(files.get(file.name, ())) for file in analysis.files]
    for task in by_task[0] if by_task else ():
        if all(task in paths for paths in by_task):
            yield task, *(paths[task] for paths in by_task)


def _costs_of(path: StrPath, partition: str, conditions: Mapping[str, Mapping[str, str]]) -> list[dict]:
    table = read_intervals(path)
    metrics = [metric for metric in METRICS.values() if f"drop_{metric.name}" in table]
    ends = {"drop": "", "low": "_low", "high": "_high"}
    return [
        {
            "partition": partition,
            "condition": row["condition"],
            "operations": dict(conditions[row["condition"]]),
            "drops": [
                {
                    "metric": metric.title,
                    **{key: rounded(row.get(f"drop_{metric.name}{end}")) for key, end in ends.items()},
                }
                for metric in metrics
            ],
        }
        for row in table.to_dict("records")
        if conditions.get(row["condition"])
    ]


def _named_heads(files: ResultFiles, heads: int) -> list[dict]:
    names = {}
    for analysis in filter(lambda analysis: analysis.best, ANALYSES):
        for task, *paths in _of_each_task(analysis, files):
            for best in analysis.best(task, *paths):
                head = int(best["layer"]) * heads + int(best["head"])
                numbers = {name: rounded(best[name]) for name in ("value", "above")}
                name = f"best head of {task} for {best['at']}"
                names[head, name] = {"head": head, "name": name, **numbers}
    return list(names.values())


def type_column(name: str, partition: Partition, *, of_parent: bool = False) -> Column:
    """Return the atlas's column with each head's type in a partition called `name`.

    of_parent: whether the partition is one of the model's parent, from which the model was fine-tuned.
    """
    styles = type_styles(partition.types)
    categories = [
        {"name": type_, "colour": styles[type_].colour, "doubtful": type_ in partition.doubtful}
        for type_ in partition.types
    ]
    indices = [partition.types.index(type_) for type_ in partition.table["type"]]
    key, label = ("parent", "type in its parent") if of_parent else ("type", "type")
    note = "Types of heads after Guan et al. 2020. A name is doubtful where the type's attention does not fit it."
    if of_parent:
        note = "Types in the parent, whose clusters were named by themselves: clusters may have exchanged their names."
    return Column(f"{key}.{name}", f"{label} ({name})", "Types", indices, categories=categories, note=note)


def share_columns(partition: Partition) -> list[Column]:
    shares = {
        "near": "near: itself and distance bin 0",
        "special": "special: [CLS], [SEP], comma, period",
        "far": "far: everything else",
    }
    return [
        Column(f"share.{share}", label, "Shares of attention", 100 * partition.table[share], "%", scale=WHOLE)
        for share, label in shares.items()
    ]


def _stability_columns(name: str, path: StrPath) -> list[Column]:
    with undamaged(path, "does not say how stable types are"):
        stability = read_json(path)
        return [
            Column(
                f"keeps.{half}",
                f"keeps its type with half of the {half}",
                "Stability",
                stability[half]["by_head"],
                "%",
                scale=WHOLE,
                note=f"Percent of clusterings of random halves of the {half} that give the head its type ({name}).",
            )
            for half in ("samples", "heads")
        ]


def pack(numbers: bytes) -> str:
    """Return bytes, compressed with gzip, as base64 text; equal bytes give equal text."""
    return base64.b64encode(gzip.compress(numbers, compresslevel=6, mtime=0)).decode()


def pack_maps(attention: Float[np.ndarray, "layer head query key"]) -> bytes:
    """Return attention as bytes: first two for each row (the keys of one query) of all rows, then one for each number.

    A row's bytes are its largest number, little-endian, in units of 1/65535. A number's byte is the number divided by
    the largest number of its row, in units of 1/255. The error is at most largest / 510 + 1 / 131070.
    """
    largest = attention.max(axis=-1)
    scale = np.rint(largest * _SCALES)
    rows = np.maximum(scale / _SCALES, 1 / _SCALES)[..., None]
    levels = np.minimum(np.rint(attention / rows * _LEVELS), _LEVELS)
    return scale.astype("<u2").tobytes() + levels.astype(np.uint8).tobytes()


def _pack_lengths(lengths: Float[np.ndarray, "layer head key"]) -> bytes:
    # As uint16 little-endian, in units of 1/65535 of the largest in the last dimension.
    largest = lengths.max(axis=-1, keepdims=True)
    return np.rint(lengths / np.where(largest > 0, largest, 1) * _SCALES).astype("<u2").tobytes()


def pack_divergence(divergence: Float[np.ndarray, "head head"]) -> tuple[str, float]:
    """Return (divergences packed by `pack`, little-endian uint16 in units of largest / 65535; the largest, in nats)."""
    return pack(_pack_lengths(divergence.reshape(1, 1, -1))), float(divergence.max())


_SCRIPTS = ("data", "state", "colours", "tiles", "filters", "maps", "matrix", "svg", "head", "facts")


def page_of(data: Mapping, provenance: Mapping, links: Sequence[tuple[str, str]] = ()) -> str:
    """Return the data of an atlas, the result of `gather`, as one HTML page.

    links: (name of another page, its path relative to this page). provenance: JSON data on what made the page.
    If `data` has the key "live", the page sends requests to the server that it came from; else it sends none.
    """
    is_live = "live" in data
    assets = [f"atlas/assets/{name}.js" for name in _SCRIPTS]
    scripts = [*assets, *["atlas/live.js"] * is_live, "atlas/assets/start.js"]
    values = {
        "title": data["title"],
        "links": links,
        "live": is_live,
        "data": embedded({name: value for name, value in data.items() if name != "packed"}),
        "packed": data["packed"],
    }
    return render("atlas/assets/page.html", values, provenance, styles=["atlas/assets/page.css"], scripts=scripts)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    maps = [(task, list(read_groups(path, AttentionMaps).values())) for task, path in inputs.maps.items()]
    found = {kind: list(inputs[kind].items()) for kind in spec.pop("kinds")}
    data = gather(about_model(read_model_record(inputs.model)), maps, found, **spec)
    links = [("All results", "../index.html"), ("Words on these pages", "../index.html#words")]
    write_text(outputs.page, page_of(data, provenance, links))
