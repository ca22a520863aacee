"""Probes: parsers that read the attention of all heads, beside baselines (Clark et al. 2019, section 5)."""

from typing import Any

from headtypes.analyses.declaration import Analysis, words_of
from headtypes.analyses.relations.analysis import ARCS
from headtypes.core.stage import Plan, Result, of_inputs_alone, stage
from headtypes.data.stage import ROWS

WORDS = Result(
    "results/probes/{model}/{task}.json",
    "train_probes",
    "right words of each probe",
    of=lambda plan: plan.probed,
    name="probes",
    content="the four probes: the right words of each sentence, for each random start; how many sentences were "
    "read, and the share of words that have a vector",
)
SCORES = Result(
    "results/probes/{model}/{task}.csv",
    "measure_probes",
    "attachment scores of probes and baselines",
    of=lambda plan: plan.probed,
    name="probe_scores",
    content="unlabelled attachment scores of the probes, right-branching, the best offset and the best head, "
    "and all differences (`minus`: the system that is subtracted), with intervals over sentences",
)
SUMS = Result(
    "results/probes/{model}/{task}.sums.h5",
    "measure_probes",
    "right words of probes and baselines, by sentence",
    of=lambda plan: plan.probed,
    name="probe_sums",
    content="what the scores are made from: `right` [sentence, system], how many words' heads each `system` finds, a "
    "probe in the mean over its random starts, and `words` [sentence], of how many",
)


# For estimates of time: how many times as large as its evaluated part a treebank's training part is taken to be. In UD
# English EWT it is 6 times as large.
_TRAINING = 8


def _passes_of_probes(plan: Plan, wildcards: Any, rows: int) -> float:
    sentences = plan.config.probes.sentences
    return 2 * (1 + (_TRAINING if sentences == "all" else sentences / max(rows, 1)))


@stage("forward", reads="rows", passes=_passes_of_probes, calls="analyses.probes.measure:run")
def train_probes(plan: Plan, model: str, task: str) -> dict:
    probes, seed = plan.config.probes, plan.seed("train_probes", model, task)
    how = {"sentences": probes.sentences, "root": probes.root, "starts": probes.seeds, "seed": seed}
    return {**words_of(plan, task), **how}


measure_probes = of_inputs_alone(
    "measure_probes", reads="rows", calls="analyses.probes.scores:run", inputs=(WORDS, ROWS, ARCS)
)


PROBES = Analysis(
    "probes",
    section="What heads know of language",
    results=(WORDS, SCORES, SUMS),
    stages=(train_probes, measure_probes),
)
