"""What would `snakemake` run, why, and how long would it take? Takes the arguments of `snakemake`; nothing runs.

python commands/preview.py [--cores N] [--configfile FILE] [--directory FOLDER] [targets]

Reasons name the value of the configuration or the module that has changed. Times are those of past jobs, from the
benchmarks beside the results.
"""

import sys

from planning import planned

from headtypes.tools.preview import preview, preview_text


def main(arguments: list[str]) -> None:
    """Print what would run."""
    plan = planned(arguments)
    print(preview_text(preview(plan.jobs, plan.configs), plan.cores))


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        sys.exit()
    main(sys.argv[1:])
