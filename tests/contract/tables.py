"""The contract as two tables: what runs when a leaf of the configuration or a module is edited, and why.

`leaves.yaml` has a row for every leaf of the full configuration (tests/support/configs.py): another value, and the
jobs that run when it takes that value, by the reason for which they do (`planning.Job`). `modules.yaml` has one for
every script and module. `python -m tests.contract.tables` renews both, and says which leaf has no value to try yet;
what it changes has to be read row by row, since a table that was only generated promises nothing.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from tests.support.configs import edited, leaves
from tests.support.planning import Job, PlanningError
from tests.support.workplace import Workplace

FOLDER = Path(__file__).parent
REASONS = ("new", "spec", "code", "input", "follow")
# Statement that changes what a module means, and nothing that it does.
STATEMENT = "\nEDITED = True\n"

Row = dict[str, Any]


def leaf_rows() -> dict[str, Row]:
    """The table of leaves, by path."""
    return _read("leaves.yaml")


def module_rows() -> dict[str, Row]:
    """The table of scripts and modules, by their path in the repository."""
    return _read("modules.yaml")


def leaf_paths(config: dict) -> list[str]:
    """The leaves that need a row: all values, and none for a mapping that is empty."""
    return [path for path, value in leaves(config).items() if value != {}]


def with_leaf(config: dict, inputs: Path, path: str, value: Any) -> dict:
    """The configuration with another value of a leaf; where it names a file, one of the folder of inputs."""
    is_path = path.endswith(("file", "/folder"))
    return edited(config, path, str(inputs / value) if is_path else value)


def by_reason(jobs: Iterable[Job], named: bool = False) -> Row:
    """The number of jobs of each rule for each reason; named: of each condition, where a rule has conditions."""
    jobs = list(jobs)
    counted = {why: Counter(job.name if named else job.rule for job in jobs if job.reason == why) for why in REASONS}
    return {why: dict(jobs) for why, jobs in counted.items() if jobs}


def observed_leaf(place: Workplace, path: str, value: Any) -> Row:
    """What runs in a finished workplace when a leaf takes another value."""
    with place.configured(with_leaf(place.config, place.folder / "inputs", path, value)):
        try:
            return by_reason(place.scheduled(), named=True)
        except PlanningError as error:
            _, _, sentence = str(error).partition("WorkflowError: config: ")
            if not sentence:
                raise
            return {"refused": sentence.replace(f"{place.folder}/inputs/", "").splitlines()[0]}


def observed_module(place: Workplace, name: str) -> Row:
    """What runs in a finished workplace when a script or module is edited."""
    with place.edited({name: place.text(name) + STATEMENT}):
        return by_reason(place.scheduled())


def promised(row: Row) -> Row:
    """What a row says of the jobs."""
    return {key: value for key, value in row.items() if key in (*REASONS, "refused")}


def _read(name: str) -> dict[str, Row]:
    file = FOLDER / name
    return (yaml.safe_load(file.read_text(encoding="utf-8")) or {}) if file.exists() else {}


def _write(name: str, heading: str, rows: dict[str, Row]) -> None:
    entries = (yaml.safe_dump({key: rows[key]}, sort_keys=False, width=92, default_flow_style=None) for key in rows)
    (FOLDER / name).write_text("\n".join([heading, *entries]), encoding="utf-8")


def _renew() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        place = Workplace.copied(Path(folder)).finish()
        known, missing, rows = leaf_rows(), [], {}
        for path in leaf_paths(place.config):
            if "value" not in known.get(path, {}):
                missing.append(path)
                continue
            value = known[path]["value"]
            rows[path] = {"value": value} | observed_leaf(place, path, value)
        _write("leaves.yaml", LEAVES_HEADING, rows)
        _write("modules.yaml", MODULES_HEADING, {name: observed_module(place, name) for name in place.modules()})
    return missing


LEAVES_HEADING = """\
# What runs when a leaf of the full configuration (tests/support/configs.py) takes another value, when all is made.
# Jobs of each rule, by reason: `new`, an output is not there; `spec`, the rule's part of the configuration changed;
# `input`, it has other inputs; `follow`, a job before it runs. A row without any runs nothing; `refused` is the answer
# to a value that does not fit the rest. Renewed by `python -m tests.contract.tables`, then read.
"""
MODULES_HEADING = """\
# What runs when a script or a module is edited, everything having been made. Jobs of each rule, by reason: `code`, the
# rule's script is or imports what was edited; `follow`, a job before it runs. A row without any runs nothing.
# Renewed by `python -m tests.contract.tables`, then read.
"""

if __name__ == "__main__":
    untried = _renew()
    for path in untried:
        print(f"{path}: give it a row with another value in tests/contract/leaves.yaml, then run this again.")
    sys.exit(1 if untried else 0)
