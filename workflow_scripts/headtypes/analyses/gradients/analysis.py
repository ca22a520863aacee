"""Gradients by kind of token, as an analysis: its rule and result, and what of it is shown where."""

from collections.abc import Iterator
from typing import Any

from headtypes.analyses.declaration import Analysis, Column, share_of, summaries
from headtypes.core.files import StrPath
from headtypes.core.stage import Plan, Result, given, stage
from headtypes.data.stage import QUESTIONS, SAMPLES, WINDOWS, encoding_of
from headtypes.models.stage import RECORD

# What each kind of token is called in the atlas.
LABELS = {
    "sep": "[SEP]",
    "cls": "[CLS]",
    "punctuation": "comma and period",
    "other": "other tokens",
    "all": "all tokens",
}


def per_head(task: str, path: StrPath) -> list:
    from headtypes.analyses.gradients.results import read_gradients

    table = read_gradients(path).table()
    note = "Mean of |dLoss/dA| over attention to this kind of token (Clark et al. 2019, section 3.2)."
    return [
        Column(f"gradient.{task}.{kind}", f"gradient, {label}", f"Gradients on {task}", table[kind], note=note)
        for kind, label in LABELS.items()
        if table[kind].notna().any()
    ]


def per_set(task: str, path: StrPath, types: Any, seed: int) -> Iterator:
    import numpy as np

    from headtypes.analyses.gradients.results import ATTENDED, read_gradients

    gradients = read_gradients(path)
    if gradients.loss is None:
        return
    by_kind = dict(zip(ATTENDED, np.moveaxis(gradients.values, -1, 0), strict=True))
    of_layer = by_kind["all"].mean(axis=1, keepdims=True)
    for kind, of_head in by_kind.items():
        ratio = np.divide(of_head, of_layer, out=np.full(of_head.shape, np.nan), where=of_layer > 0)
        yield from summaries("gradients", task, kind, ratio)


TABLE = Result(
    "results/gradients/{model}/{task}.csv",
    "measure_gradients",
    "how much the loss depends on attention to each kind of token",
    of=lambda plan: plan.gradients,
    name="gradients",
    content="for each head, how much the model's own loss depends on the attention to each kind of token: "
    "`sep`, `cls`, `punctuation`, `other`, `all`; the `loss`, the number of `samples`, and, where there "
    "are no values, the `reason`",
)


def texts(plan: Plan, model: str, task: str) -> str:
    return (SAMPLES if plan.is_text(task) else QUESTIONS).path.format(task=task)


def answered_windows(plan: Plan, model: str, task: str) -> str | list:
    return [] if plan.is_text(task) else WINDOWS.path.format(model=model, task=task)


@stage(
    "gradients",
    reads="texts",
    passes=lambda plan, wildcards, rows: share_of(plan.config.gradients.samples, rows),
    calls="analyses.gradients.measure:run",
    inputs=(RECORD, texts, answered_windows),
)
def measure_gradients(plan: Plan, model: str, task: str) -> dict:
    drawn = {"samples": plan.config.gradients.samples, "seed": plan.seed("measure_gradients", task)}
    return {"task": task, **encoding_of(plan, task), **drawn, **given(plan.config.compute)}


GRADIENTS = Analysis(
    "gradients",
    "gradients, in units of the layer's mean",
    section="What single heads look at",
    files=(TABLE,),
    results=(TABLE,),
    stages=(measure_gradients,),
    per_head=per_head,
    per_set=per_set,
)
