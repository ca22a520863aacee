"""Probes, as an analysis: its results.

Parsers that read the attention of all heads, and what they are compared with (Clark et al. 2019, section 5).
"""

from headtypes.analyses.declaration import Analysis
from headtypes.core.results import Result

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
PROBES = Analysis("probes", results=(WORDS, SCORES))
