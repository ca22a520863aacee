"""What an edit schedules: by the table of leaves, and by what follows from the plans before and after it.

`leaves.yaml` has a row for every leaf of `full_config`: another value, chosen by hand, and the jobs whose spec it
changes, or the sentence that refuses it. `make contract` writes both; each line is a promise to users.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import yaml

from headtypes.core.errors import InputError
from tests.support import configs
from tests.support.configs import all_specs, full_config, leaves
from tests.support.planning import Job

# Rules whose jobs are told apart by their last wildcard: a condition, or a paper.
NAMED_BY_LAST = {"evaluate_condition", "evaluate_controls", "compare_with_paper"}


def name_of(key: tuple[str, ...]) -> str:
    """The rule of a job; of an evaluation and its controls, with the condition; of a comparison, with the paper."""
    return f"{key[0]} {key[-1]}" if key[0] in NAMED_BY_LAST else key[0]


LEAVES = Path(__file__).with_name("leaves.yaml")
Row = dict[str, Any]


def leaf_rows() -> dict[str, Row]:
    return yaml.safe_load(LEAVES.read_text(encoding="utf-8"))


def leaf_paths(config: dict) -> list[str]:
    return [path for path, value in leaves(config).items() if value != {}]


def with_leaf(config: dict, inputs: Path, path: str, value: Any) -> dict:
    """The configuration with another value of a leaf; where it names a file, one of the folder of inputs."""
    is_path = path.endswith(("/file", "_file", "/folder", "/vectors"))
    return configs.edited(config, path, str(inputs / value) if is_path else value)


def changed(before: dict[tuple, str], after: dict[tuple, str]) -> dict[str, int]:
    """The number of jobs, by name, that have a spec in both and not the same."""
    jobs = Counter(name_of(job) for job in before.keys() & after.keys() if before[job] != after[job])
    return dict(sorted(jobs.items()))


def row_of(config: dict, inputs: Path, path: str, value: Any) -> Row:
    try:
        specs = all_specs(with_leaf(config, inputs, path, value))
    except InputError as error:
        return {"value": value, "refused": str(error).replace(f"{inputs}/", "").removeprefix("config: ")}
    jobs = changed(all_specs(config), specs)
    return {"value": value, **({"spec": jobs} if jobs else {})}


def expected(before: list[Job], after: list[Job], edited: Collection[str] = ()) -> dict[tuple, str]:
    """Why each job of a plan has to run, when all jobs of the plan before have run: {(rule, wildcards): reason}.

    edited: inputs, as jobs name them, that hold something else.
    A job is "new" where it has outputs that none had; else its own "spec" or "code" has changed, or it has other
    "input", or the same in another order; else it "follows" a job that runs.
    """
    made = {output: job for job in before for output in job.outputs}
    producers = {output.rstrip("/"): job for job in after for output in job.outputs}
    reasons: dict[tuple, str | None] = {}

    def own_reason(job: Job) -> str | None:
        makers = [made.get(output) for output in job.outputs]
        if None in makers:
            return "new"
        (earlier,) = {maker.key: maker for maker in makers}.values()
        for name in ("spec", "code"):
            if job.parameters[name] != earlier.parameters[name]:
                return name
        other = set(job.inputs) != set(earlier.inputs) or job.parameters.get("keyed") != earlier.parameters.get("keyed")
        return "input" if other or not {*edited}.isdisjoint(job.inputs) else None

    def reason(job: Job) -> str | None:
        if job.key not in reasons:
            follows = any(reason(producers[path]) for path in job.inputs if path in producers)
            reasons[job.key] = own_reason(job) or ("follows" if follows else None)
        return reasons[job.key]

    return {job.key: why for job in after if (why := reason(job))}


def scheduled(jobs: list[Job]) -> set[tuple]:
    return {job.key for job in jobs if job.scheduled}


def _write() -> None:
    with tempfile.TemporaryDirectory() as folder:
        inputs, rows = Path(folder), leaf_rows()
        config = full_config(inputs)
        paths = leaf_paths(config)
        if lacking := [path for path in paths if path not in rows]:
            sys.exit(f"Give {', '.join(lacking)} another value first, as a row of {LEAVES}: {{value: ...}}.")
        rows = {path: row_of(config, inputs, path, rows[path]["value"]) for path in paths}
    how = {"default_flow_style": True, "sort_keys": False, "width": 110, "allow_unicode": True}
    lines = [f"{path}: {yaml.safe_dump(row, **how)}" for path, row in rows.items()]
    heading = [line for line in LEAVES.read_text(encoding="utf-8").splitlines(keepends=True) if line.startswith("#")]
    LEAVES.write_text("".join([*heading, *lines]), encoding="utf-8")


if __name__ == "__main__":
    _write()
