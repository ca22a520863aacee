"""The heads of a model with their types, as JSON, as CSV, and as masks for tensors."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from safetensors.numpy import save

from headtypes.analyses.types.partitions import Partition, order_types
from headtypes.core.files import StrPath, atomic_write, canonical_json, read_json, undamaged, write_json
from headtypes.core.table_files import read_csv

_SHARES = ("near", "special", "far")
_KEEPS = {"samples": "keeps_type_samples", "seeds": "keeps_type_seeds"}


def head_table(partition: Partition, confidence: pd.DataFrame | None = None, queries: int = 1) -> pd.DataFrame:
    """One row per head, by layer and head.

    confidence: as `read_confidence` reads it, of the same heads; None for an imported partition.
    queries: heads of queries that count as one head, because they share its keys and values.
    returns name (`layer-head` from 1, as people read it), layer and head (from 0), type, doubtful (whether the type's
        name is), near, special, far and silhouette as in the partition, keeps_type_samples and keeps_type_seeds
        (percent of repeated clusterings in which the head keeps its type; NaN without a confidence); and queries, the
        names of its heads of queries, where it has several.
    """
    table = partition.table.drop(columns="cluster")
    table.insert(
        0, "name", [f"{layer + 1}-{head + 1}" for layer, head in zip(table["layer"], table["head"], strict=True)]
    )
    if confidence is None:
        table[[*_KEEPS.values()]] = np.nan
    else:
        table = table.merge(confidence[["layer", "head", *_KEEPS.values()]], "left", ["layer", "head"])
    order = ["name", "layer", "head", "type", "doubtful", *_KEEPS.values(), *_SHARES, "silhouette"]
    table = table[order].astype({"doubtful": bool})
    if queries > 1:
        names = [
            " ".join(f"{layer + 1}-{head * queries + each}" for each in range(1, queries + 1))
            for layer, head in zip(table["layer"], table["head"], strict=True)
        ]
        table.insert(3, "queries", names)
    return table


def read_confidence(path: StrPath) -> pd.DataFrame:
    """The table of `types.confidence.head_confidence`, by layer and head; raises `InputError` for a damaged file."""
    kinds = {"layer": int, "head": int, **dict.fromkeys(_KEEPS.values(), float)}
    table = read_csv(path, "holds no confidence of heads", kinds, dtype=kinds)
    return table.sort_values(["layer", "head"], ignore_index=True)


def read_doubts(path: StrPath) -> dict[str, str]:
    """Why the name of each type is doubtful (`clustering`'s naming); empty where it is not."""
    with undamaged(path, "holds no names of types"):
        return {name: about["doubt"] for name, about in read_json(path)["types"].items()}


def write_head_list(
    path: StrPath, table: pd.DataFrame, doubts: Mapping[str, str], about: Mapping[str, str], provenance: dict
) -> None:
    """Write heads as JSON: what they are of, the types, the heads, and what made them.

    table: as `head_table` returns it; doubts: by type, missing for types without a doubt.
    about: `model`, `task` and `partition`. A number that there is none of is null.
    """
    of_type = {name: table[table["type"] == name] for name in order_types(table["type"])}
    types = {
        name: {"heads": len(rows), "doubtful": bool(rows["doubtful"].any()), "doubt": doubts.get(name, "")}
        for name, rows in of_type.items()
    }
    heads = [_head(row) for row in table.to_dict("records")]
    shape = {"layers": int(table["layer"].max()) + 1, "heads_per_layer": int(table["head"].max()) + 1}
    write_json(path, {**about, **shape, "types": types, "heads": heads, "provenance": provenance})


def _head(row: dict) -> dict:
    numbers = {name: None if np.isnan(row[name]) else round(row[name], 6) for name in (*_SHARES, "silhouette")}
    queries = {"queries": row["queries"].split()} if "queries" in row else {}
    keeps = {name: None if np.isnan(row[column]) else row[column] for name, column in _KEEPS.items()}
    return {
        **{name: row[name] for name in ("name", "layer", "head", "type", "doubtful")},
        **queries,
        "keeps_type_percent": keeps,
        **numbers,
    }


def write_masks(path: StrPath, partition: Partition, provenance: dict) -> None:
    """Write, as safetensors, a mask for each type: bool [layer, head], true for its heads, under the type's name.

    The metadata hold the provenance, as JSON.
    """
    masks = {name: np.ascontiguousarray(partition.type_of == name) for name in partition.types}
    with atomic_write(path) as temporary:
        temporary.write_bytes(save(masks, metadata={"provenance": canonical_json(provenance)}))
