"""Put the results of deposits into a run, which then need not compute them. Takes the arguments of `snakemake` too.

python commands/merge.py DEPOSIT ... [--configfile FILE ...] [--directory FOLDER]

DEPOSIT is a folder that commands/deposit.py has written, or a ZIP archive of it. Each is checked whole before anything
of it is written, and refused where its code, definitions, models or data are not those of the configuration. Tables
over all models are made again by the next `snakemake`. No file is overwritten.
"""

import argparse
import sys
from contextlib import chdir
from pathlib import Path

from planning import planned_to_write

from headtypes.core.errors import InputError
from headtypes.deposit.merging import Merge, compare, write_merged
from headtypes.deposit.reading import Deposit


def main(arguments: list[str]) -> None:
    """Merge one deposit after the other, and print what was merged and what is left to be made."""
    asked, of_snakemake = _parser().parse_known_args(arguments)
    here = Path.cwd()
    for path in map(Path.absolute, asked.deposits):
        deposit = Deposit(path)
        with chdir(here), planned_to_write(of_snakemake) as (plan, _):
            merge = compare(plan.jobs, deposit)
            write_merged(merge, plan.jobs, deposit)
        # Planned again, since it is known of a result that is there how many shards it is of.
        with chdir(here), planned_to_write(of_snakemake) as (plan, remember):
            remember(set(merge.taken) - set(merge.absent))
            print("\n".join(_said(path, merge, [path for job in plan.jobs if job.runs for path in job.outputs])))


def _said(path: Path, merge: Merge, to_run: list[str]) -> list[str]:
    """What was merged, in sentences; to_run: the results that Snakemake would make now, producers first."""
    here = len(merge.taken) - len(merge.copied) - len(merge.absent)
    said = [f"{path}: {len(merge.copied)} results merged; {here} were here already."]
    if merge.joint:
        said.append(f"Made again by the next run, since they read other results here: {_named(merge.joint)}.")
    if merge.strange:
        said.append(f"Left where they are, since no job of this run makes them: {_named(merge.strange)}.")
    of_deposit = [path for path in to_run if path in merge.taken]
    if lacking := [path for path in of_deposit if path in merge.absent]:
        said.append(f"Left out of the deposit, and made by the next run: {_named(lacking)}.")
    if again := [path for path in of_deposit if path not in merge.absent]:
        said.append(
            f"The next run then makes again what was merged and follows from these: {_named(again)}. To prevent that, "
            "merge a deposit that was made with --private."
        )
    return said


def _named(paths: list[str]) -> str:
    return f"{len(paths)} ({paths[0]}{', ...' if len(paths) > 1 else ''})"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, usage="%(prog)s"
    )
    parser.add_argument("deposits", nargs="+", type=Path, metavar="DEPOSIT", help="a folder or ZIP archive")
    return parser


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (InputError, OSError) as error:
        sys.exit(str(error))
