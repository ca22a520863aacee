"""Columns of the atlas about the types of heads."""

from headtypes.analyses.per_head import WHOLE, Column
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.style import type_styles
from headtypes.core.files import StrPath, read_json, undamaged


def type_column(name: str, partition: Partition, *, of_parent: bool = False) -> Column:
    """The type of each head; or, with of_parent, in the model that this one was fine-tuned from."""
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
    """Near, special and far of each head."""
    shares = {
        "near": "near: itself and distance bin 0",
        "special": "special: [CLS], [SEP], comma, period",
        "far": "far: everything else",
    }
    return [
        Column(f"share.{share}", label, "Shares of attention", 100 * partition.table[share], "%", scale=WHOLE)
        for share, label in shares.items()
    ]


def stability_columns(name: str, path: StrPath) -> list[Column]:
    """How often each head keeps its type in clusterings of random halves; name: of the partition."""
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
