"""What will run and why, and how long it should take."""

import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from statistics import mean

from headtypes.base.errors import InputError
from headtypes.base.files import canonical_json, read_json, write_json
from headtypes.config.schema import Config, read_config
from headtypes.tools.jobs import Job, changes, differing, spec_changes
from headtypes.workflow.plan import Plan
from headtypes.workflow.provenance import folder_of_records, recorded
from headtypes.workflow.stages.registry import STAGES


def remember_config(config: Config, results: Path) -> None:
    """Write the configuration of a run that succeeded, so that a later change can be traced to single values.

    results: the folder of results.
    """
    write_json(_config_file(results), _given(config))


@dataclass
class Work:
    """What a rule has to do: the number of jobs, their seconds (NaN where unknown), and why, {reason: jobs}."""

    jobs: int = 0
    seconds: float = 0.0
    why: Counter[str] = field(default_factory=Counter)


def preview(jobs: Iterable[Job], configs: dict[Path, Config]) -> dict[str, Work]:
    """The work of each rule that has jobs to run, in the order of the jobs.

    configs: the configuration of each folder of results.
    A job's time is that of its last run, or else the mean of its rule. Reasons name the leaf of the configuration or
    the module that has changed.
    """
    jobs = list(jobs)
    leaves = {results: _changed_leaves(results, config) for results, config in configs.items()}
    times = _mean_seconds(jobs)
    running = {path: job for job in jobs if job.runs for path in job.outputs}
    work_of: dict[str, Work] = {}
    for job in jobs:
        if job.runs:
            work, own = work_of.setdefault(job.rule, Work()), _benchmark(job)
            work.jobs += 1
            work.seconds += times.get(job.rule, math.nan) if own is None else own
            work.why.update(_reasons(job, leaves[job.results], running))
    return work_of


def preview_text(work_of: dict[str, Work], cores: int) -> str:
    """The preview as text: a line per rule, followed by its reasons and how many jobs have them."""
    if not work_of:
        return "Nothing to be done."
    lines = [f"{'rule':24} {'jobs':>6} {'time':>9}"]
    for rule, work in work_of.items():
        lines.append(f"{rule:24} {work.jobs:6,} {_duration(work.seconds):>9}")
        lines += [f"  {count:,} x {reason}" for reason, count in work.why.most_common()]
    jobs = sum(work.jobs for work in work_of.values())
    seconds = sum(work.seconds for work in work_of.values() if not math.isnan(work.seconds))
    lines.append(f"{jobs:,} jobs, {_duration(seconds)} of work: {_duration(seconds / cores)} on {cores} cores.")
    unmeasured = [rule for rule, work in work_of.items() if math.isnan(work.seconds)]
    if unmeasured:
        lines.append(f"Not measured, so not counted: {', '.join(unmeasured)}.")
    return "\n".join(lines)


def _duration(seconds: float) -> str:
    return "?" if math.isnan(seconds) else str(timedelta(seconds=round(seconds)))


def _reasons(job: Job, leaves: dict[str, Callable[[Job], bool]], running: dict[str, Job]) -> list[str]:
    missing = [path for path in job.outputs if not Path(path).exists()]
    before = list(dict.fromkeys(running[path].rule for path in job.inputs if path in running))
    if missing:
        return ["new"] if len(missing) == len(job.outputs) else [f"{missing[0]} is missing"]
    try:
        record = recorded(job.outputs[0])
    except InputError:
        return ["the record of what made it is damaged"]
    own = [] if record is None else _named(job, record, leaves)
    follows = [f"after {', '.join(before)}"] if before else []
    return own or follows or list(job.reasons)


def _named(job: Job, record: dict, leaves: dict[str, Callable[[Job], bool]]) -> list[str]:
    """What has changed; changes of the spec are given as the values of the configuration that cause them."""
    all_changes = changes(job, record)
    responsible = [leaf for leaf, changes_spec in leaves.items() if changes_spec(job)]
    if not responsible:
        return all_changes
    of_spec = spec_changes(json.loads(job.spec), record["spec"])
    return responsible + [change for change in all_changes if change not in of_spec]


def _config_file(results: Path) -> Path:
    return folder_of_records(results) / "config.json"


def _changed_leaves(results: Path, config: Config) -> dict[str, Callable[[Job], bool]]:
    """The values of the config that differ from the last complete run.

    returns {the change, in words: a function that says whether this change alone changes the spec of a job}.
    """
    file, now = _config_file(results), _given(config)
    try:
        then = read_json(file) if file.is_file() else now
    except InputError:
        return {}
    if not isinstance(then, dict):
        return {}
    leaves = {}
    for path, old, new in differing(then, now):
        words = f"{path.replace('/', '.')}: {_shown(old)}, now {_shown(new)}"
        try:
            leaves[words] = _changes_spec(Plan(read_config(_with(now, path.split("/"), old))))
        except InputError:
            continue  # The old value does not fit the rest of the new configuration.
    return leaves


def _shown(value: object) -> str:
    return "not given" if value is None else json.dumps(value, ensure_ascii=False)


def _changes_spec(before: Plan) -> Callable[[Job], bool]:
    def changed(job: Job) -> bool:
        try:
            return canonical_json(STAGES[job.stage](before, **job.wildcards)) != job.spec
        except KeyError:
            return False  # There was no such job before.

    return changed


def _given(config: Config) -> dict:
    """The keys that the user gave: a config with all defaults written out may not be valid."""
    return config.model_dump(mode="json", exclude_unset=True)


def _with(part: dict, path: list[str], value: object) -> dict:
    key, *rest = path
    if not rest and value is None:
        return {name: kept for name, kept in part.items() if name != key}
    return {**part, key: _with(part.get(key) or {}, rest, value) if rest else value}


def _mean_seconds(jobs: list[Job]) -> dict[str, float]:
    """The mean time of each rule's past jobs."""
    measured: dict[str, list[float]] = {}
    for job in jobs:
        if (seconds := _benchmark(job)) is not None:
            measured.setdefault(job.rule, []).append(seconds)
    return {rule: mean(seconds) for rule, seconds in measured.items()}


def _benchmark(job: Job) -> float | None:
    if job.benchmark is None or not Path(job.benchmark).is_file():
        return None
    with open(job.benchmark, encoding="utf-8", newline="") as file:
        return mean(float(row["s"]) for row in csv.DictReader(file, delimiter="\t"))
