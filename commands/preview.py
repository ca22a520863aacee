"""What would `snakemake` run, why, and what would it take? Takes the arguments of `snakemake`; nothing runs.

python commands/preview.py [--cores N] [--configfile FILE] [--directory FOLDER] [targets]

Reasons name the value of the configuration or the module that has changed. Times are those of past jobs, from the
benchmarks beside the results; where none of a rule has run, they are estimated from models, texts and the speed of this
machine, which is measured for half a second. The last lines say how good the times are.
"""

import sys
import tempfile
from pathlib import Path

from planning import ending_with_its_pipe, planned

from headtypes.planning.tools.estimates import estimates, speed
from headtypes.planning.tools.preview import preview, preview_text, superseded, unseen


def main(arguments: list[str]) -> None:
    """Print what would run."""
    plan, measured = planned(arguments), speed()
    with tempfile.TemporaryDirectory() as scratch:
        expected = estimates(plan.jobs, plan.configs, measured, Path(scratch))
    for note in filter(None, [*plan.notes, superseded(plan.jobs), unseen(plan.jobs)]):
        print(note, file=sys.stderr)
    print(preview_text(preview(plan.jobs, plan.configs, expected), plan.cores, measured))


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        sys.exit()
    ending_with_its_pipe()
    main(sys.argv[1:])
