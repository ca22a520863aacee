"""Probes, as an analysis: its results, and what of them is shown where.

Parsers that read the attention of all heads, and what they are compared with (Clark et al. 2019, section 5).
"""

from collections.abc import Iterator

from headtypes.analyses.declaration import Analysis
from headtypes.core.files import StrPath
from headtypes.core.results import Result


def per_type(task: str, path: StrPath, seed: int) -> Iterator:
    """The unlabelled attachment score of the probes that read the heads of one type alone."""
    from headtypes.analyses.per_set import TypeValue
    from headtypes.analyses.probes.scores import read_type_probes, score_type_probes

    for name, score in score_type_probes(read_type_probes(path), seed=seed).items():
        yield TypeValue(name, "probes", task, "uas", "attention of these heads", *score)


SECTION = "What heads know of language"
WORDS = Result(
    "results/probes/{model}/{task}.json",
    "train_probes",
    "right words of each probe",
    of=lambda plan: plan.probed,
    name="probes",
    section=SECTION,
    content="the four probes: the right words of each sentence, for each random start; how many sentences were "
    "read, and the share of words that have a vector",
)
SCORES = Result(
    "results/probes/{model}/{task}.csv",
    "measure_probes",
    "attachment scores of probes and baselines",
    of=lambda plan: plan.probed,
    name="probe_scores",
    section=SECTION,
    content="unlabelled attachment scores of the probes, right-branching, the best offset and the best head, "
    "and all differences (`minus`: the system that is subtracted), with intervals over sentences",
)
OF_TYPES = Result(
    "results/probes/{model}/{task}/{partition}.json",
    "train_type_probes",
    "right words of the probes that read one type",
    of=lambda plan: plan.probed_types,
    name="probes_of_types",
    section=SECTION,
    content="the probe `attention` on the heads of each type alone, for each random start, and on five draws of "
    "as many heads of each layer: the right words of each sentence",
)
PROBES = Analysis(
    "probes",
    "probe of these heads alone (% correct)",
    files=(OF_TYPES,),
    results=(WORDS, SCORES, OF_TYPES),
    per_type=per_type,
    line=lambda quantity, statistic: "syntactic heads",
    of_language=True,
)
