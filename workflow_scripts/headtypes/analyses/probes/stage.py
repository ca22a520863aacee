"""How well parsers learn from the attention of all heads."""

from typing import Any

from headtypes.analyses.stage import words_of
from headtypes.core.stage import Plan, stage


def _passes_of_probes(plan: Plan, wildcards: Any, rows: int) -> float:
    """The model and a network of random weights read what is scored and what is learnt."""
    probes = plan.config.probes
    return 2 * (1 + (_TRAINING if probes.sentences == "all" else probes.sentences / max(rows, 1)))


# How many times as large as its part that is evaluated a treebank's training part is; of UD English EWT, 6.
_TRAINING = 8


@stage("forward", reads="rows", passes=_passes_of_probes, calls="analyses.probes.measure:run")
def train_probes(plan: Plan, model: str, task: str) -> dict:
    """How the probes learn, on how many sentences, and how these are read."""
    probes = plan.config.probes
    how = {key: getattr(probes, key) for key in ("sentences", "root")}
    seed = plan.seed("train_probes", model, task)
    return {**words_of(plan, task), **how, "starts": probes.seeds, "seed": seed}


@stage(reads="rows", calls="analyses.probes.scores:run")
def measure_probes(plan: Plan, model: str, task: str) -> dict:
    """The seed of the intervals."""
    return {"seed": plan.seed("measure_probes", model, task)}
