"""Whether heads that find relations are used for them, as an analysis: its results, and what of them is shown where.

The loss without the attention by which a head finds its relation.
"""

from typing import Any

from headtypes.analyses.declaration import Analysis
from headtypes.core.files import StrPath
from headtypes.core.results import Result


def per_head(task: str, path: StrPath) -> list:
    """For what each head is used, and by how much the loss rises without this attention."""
    import pandas as pd

    from headtypes.analyses.per_head import Column, categories_of
    from headtypes.analyses.use.results import READINGS, read_use

    table = read_use(path)
    measured = table[table["found"] & (table["reading"] == READINGS[0])].dropna(subset="rise")
    if measured.empty:
        return []
    top = measured.sort_values("rise").drop_duplicates(["layer", "head"], keep="last")
    shape = map(range, table[["layers", "heads"]].iloc[0])
    heads = pd.MultiIndex.from_product(shape, names=["layer", "head"])
    top = top.set_index(["layer", "head"]).reindex(heads)
    categories, indices = categories_of(top["relation"] + ": " + top["verdict"])
    group = f"Use on {task}"
    note = (
        "Of what the head finds best, that without which the loss rises most, on the words that look or of the model's "
        "task, and by how much it does: A[s, t] = 0 in this head alone (docs/understand/method.md)."
    )
    ends = top["rise_low"], top["rise_high"]
    return [
        Column(f"use.{task}", "found and used", group, indices, categories=categories, note=note),
        Column(f"rise.{task}", f"rise of the loss, found on {task}", group, top["rise"], "nats", *ends, note=note),
    ]


def _result(name: str, ending: str, rule: str, about: str, content: str, **more: Any) -> Result:
    path, section = f"results/use/{{model}}/{{task}}{ending}", "What heads know of language"
    return Result(path, rule, about, of=lambda plan: plan.used, name=name, section=section, content=content, **more)


LOSSES = _result(
    *("use_losses", ".parquet", "measure_use", "losses without the attention by which heads find what they look for"),
    "for models of `use.models`, for each relation and direction, and each input of a `unit` (sentence, document, or "
    "question of a fine-tuned model): the sums of the `loss` of so many "
    "`tokens` in the plain model and `without` arcs: those `of` the relation, other arcs, or those of the relation in "
    "other heads, by either `reading`",
)
TABLE = _result(
    *("use", ".csv", "tabulate_use", "what heads find, and whether they are used for it"),
    "for each relation, direction and `reading`, the best head, how many pairs it sees (`visible`) and finds "
    "(`accuracy`, beside the `baseline`), what the loss rises by without this attention (`rise`), how much more than "
    "without other arcs and in other heads (`above_arcs`, `above_heads`), with intervals over units, `p` and the "
    "`verdict` ([method](../understand/method.md#use-of-what-heads-find-not-in-the-papers))",
)
FIGURE = _result(
    *("", ".{pdf,png}", "plot_use", "what heads find, and what they are used for"),
    "the rise of the loss against what heads find, as a figure",
)
USE = Analysis(
    "use",
    files=(TABLE,),
    results=(LOSSES, TABLE, FIGURE),
    per_head=per_head,
)
