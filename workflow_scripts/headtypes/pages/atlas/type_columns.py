"""Columns of the atlas about the types of heads."""

from headtypes.analyses.per_head import WHOLE, Column, by_head
from headtypes.analyses.types.partitions import Partition
from headtypes.analyses.types.style import type_styles
from headtypes.core.files import StrPath
from headtypes.core.table_files import read_csv


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


def confidence_columns(name: str, path: StrPath) -> list[Column]:
    """Near, special and far of each head, and how often it keeps its type; name: of the partition."""
    table = by_head(read_csv(path, "does not say how certain heads are", ("layer", "head", "near", "near_low")))
    shares = {
        "near": "near: itself and distance bin 0",
        "special": "special: [CLS], [SEP], comma, period",
        "far": "far: everything else",
    }
    columns = [
        Column(
            f"share.{share}",
            label,
            "Shares of attention",
            100 * table[share],
            "%",
            100 * table[f"{share}_low"],
            100 * table[f"{share}_high"],
            scale=WHOLE,
        )
        for share, label in shares.items()
    ]
    drawn = {"samples": "other samples", "seeds": "other seeds"}
    return columns + [
        Column(
            f"keeps.{kind}",
            f"keeps its type with {what}",
            "Confidence",
            table[f"keeps_type_{kind}"],
            "%",
            scale=WHOLE,
            note=f"Percent of repeated clusterings of all heads in which the head keeps its type ({name}). On random "
            "halves of the heads clusterings agree less: that is the first stability of Table 1.",
        )
        for kind, what in drawn.items()
        if table[f"keeps_type_{kind}"].notna().any()
    ]
