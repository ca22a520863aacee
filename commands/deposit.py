"""Put results into a folder that can be given away with a paper, on Zenodo for example. Takes the arguments of
`snakemake` too.

python commands/deposit.py --author "Family, Given" --license CC-BY-4.0 [--title TITLE] [--date YYYY-MM-DD]
    [--output FOLDER] [--private] [--configfile FILE ...] [--directory FOLDER]

It refuses results that are incomplete, or not those of the configuration. The folder has tables, figures, types,
features and exports with what made them, the workflow, a card that says what was found and what must not be concluded
(README.md), and metadata for machines (an RO-Crate). Weights and texts stay out, unless it is --private: for another
machine of yours, where commands/merge.py reads it.
"""

import argparse
import os
import re
import sys
from datetime import date
from functools import partial
from pathlib import Path

from planning import SCRIPTS, planned
from ro_crate import write_crate

from headtypes.core.errors import InputError
from headtypes.deposit.card import Author
from headtypes.deposit.citation import author_of
from headtypes.deposit.parts import check_complete, paths_of_machine
from headtypes.deposit.study import collect
from headtypes.deposit.writing import check_new, write_folder
from headtypes.planning.provenance import is_shard
from headtypes.planning.tools.agreement import disagreements
from headtypes.planning.tools.audit import audit

# Of files that are in no deposit, how many are named.
_NAMED = 20


def main(arguments: list[str]) -> None:
    """Write the folder, and print where it is and what to look at before it is published."""
    asked, of_snakemake = _parser().parse_known_args(arguments)
    start, output = Path.cwd(), asked.output and asked.output.resolve()
    plan = planned(of_snakemake)
    output = output or Path("deposit").resolve()
    if len(plan.configs) != 1:
        raise InputError("Several experiments are planned at once; make a deposit of each, with its own configuration.")
    (config,) = plan.configs.values()
    check_new(output)
    jobs = [job for job in plan.jobs if not all(map(is_shard, job.outputs))]
    others = check_complete(jobs, audit(jobs))
    about = {"authors": asked.author, "license": asked.license, "title": asked.title, "published": asked.date}
    about["private"] = asked.private
    study, parts = collect(jobs, config, SCRIPTS.parent, configfile="config.yaml", **about)
    write_folder(output, parts, partial(write_crate, study=study, parts=parts))
    if others:
        named = f"{', '.join(others[:_NAMED])}{' and others' if len(others) > _NAMED else ''}"
        print(f"Left out, since no job of this experiment makes them: {len(others)} files: {named}.")
    for sentence in disagreements(jobs):
        print(f"Before you publish: {sentence}")
    if found := paths_of_machine(parts):
        file, path = found[0]
        print(f"Before you publish, look for paths of this machine, such as {path} in {file} ({len(found)} in all).")
    print(os.path.relpath(output, start))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, usage="%(prog)s"
    )
    parser.add_argument("--author", action="append", required=True, type=_author, help="Family, Given (ORCID)")
    parser.add_argument("--license", required=True, type=_license, help="of the results: an SPDX identifier, or a URL")
    parser.add_argument("--title", type=_named, help="by default that of results/index.html")
    parser.add_argument("--date", type=date.fromisoformat, help="of publication; by default that of the last result")
    parser.add_argument("--output", type=Path, help="the folder; by default deposit in --directory")
    parser.add_argument("--private", action="store_true", help="with weights and texts: not to be given away")
    return parser


def _named(text: str) -> str:
    if not text.strip() or "\n" in text:
        raise argparse.ArgumentTypeError("a name on one line is needed")
    return text.strip()


def _author(text: str) -> Author:
    return author_of(_named(text))


def _license(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9.+-]+|https?://\S+", text):
        raise argparse.ArgumentTypeError(f"{text} is neither an identifier like CC-BY-4.0 nor an address")
    return text


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (InputError, OSError) as error:
        sys.exit(str(error))
