"""A Python that has its libraries loaded already: most of what a start of Snakemake, or of a command, takes is that.

`python()` is a program of `headtypes.planning.forks`, as a run has one for its jobs.
"""

import os
from functools import cache

from headtypes.planning import forks

# What jobs load.
LIBRARIES = (
    "datasets",
    "h5py",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_pdf",
    "pandas",
    "scipy.optimize",
    "sentencex",
    "sklearn.cluster",
    "sklearn.manifold",
    "sklearn.mixture",
    "torch",
    "transformers.models.auto.modeling_auto",
    "transformers.models.auto.tokenization_auto",
    "transformers.models.bert.modeling_bert",
    "transformers.trainer",
)
# What Snakemake and our commands load, some of it by the way.
OF_SNAKEMAKE = (
    "jaxtyping",
    "pydantic",
    "requests",
    "smart_open",
    "snakemake.cli",
    "snakemake.executors.dryrun",
    "snakemake.executors.local",
    "snakemake.executors.touch",
    "snakemake.report.html_reporter",
    "snakemake.script",
    "snakemake.storage",
    "snakemake.workflow",
    "yaml",
)


@cache
def python(*within: str) -> str:
    """The program; the first call starts the server of this process; within: a command that starts it elsewhere."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    offline = {**others, "HF_HUB_OFFLINE": "1"}
    return str(forks.start(modules=(*LIBRARIES, *OF_SNAKEMAKE), within=within, environment=offline))
