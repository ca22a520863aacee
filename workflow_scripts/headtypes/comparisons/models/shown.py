"""Any two models side by side, for the summary."""

import pandas as pd

from headtypes.core.tables import Column, Table, TextColumn

# The most pairs of models that the page has room for.
_PAIRS = 40
_COLUMNS = [
    TextColumn("model", "model"),
    TextColumn("other", "beside"),
    TextColumn("relation", "relation", note="what the model beside it is to it; if nothing, heads are not compared"),
    Column(
        "same_shares",
        "shares",
        digits=1,
        note="percent of heads that could keep their type if both had as many of each type",
    ),
    Column("same_layers", "by layer", digits=1, note="the same, if both had as many of each type at every depth"),
    Column("same_type", "each head", digits=1, note="percent of heads that have the type that they have in the other"),
    Column("same_cluster", "clusters", digits=1, note="the same for clusters, matched whatever their names are"),
    Column("adjusted_rand", "Rand", note="adjusted Rand index: 1 for equal clusterings, 0 on average for chance"),
    TextColumn("doubts", "doubtful names"),
]


def compared_table(pairs: pd.DataFrame, clustering: str) -> Table:
    """Any two models side by side, those that have their heads in common first.

    pairs: as `comparisons.models.compared.pairs_table` makes it, at least one.
    """
    ordered = pairs.sort_values("relation", key=lambda it: it == "", kind="stable").head(_PAIRS)
    texts = {"doubtful": "{}", "other_doubtful": "beside: {}"}
    doubts = [
        ", ".join(text.format(names[column]) for column, text in texts.items() if names[column])
        for names in ordered[list(texts)].to_dict("records")
    ]
    about = (
        "How much of the heads' types two models have in common, in percent. Each model is clustered and its clusters "
        "are named by itself: where a name is doubtful, compare what the heads attend to, which is in types.csv beside "
        "this file."
    )
    if len(pairs) > _PAIRS:
        about += f" The first {_PAIRS} of {len(pairs)} pairs."
    return Table(f"Any two models: {clustering}", ordered.assign(doubts=doubts), _COLUMNS, about=about)
