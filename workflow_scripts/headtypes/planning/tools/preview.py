"""What will run and why, how long it should take, and what memory and disk it needs."""

import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from statistics import mean

from headtypes.core.errors import InputError
from headtypes.core.files import canonical_json
from headtypes.planning.config.schema import Config, read_config
from headtypes.planning.plan import Plan
from headtypes.planning.provenance import contents_of, recorded, results_folder
from headtypes.planning.stages.registry import STAGES
from headtypes.planning.tools.audit import unused
from headtypes.planning.tools.estimates import Estimate
from headtypes.planning.tools.history import given, remembered_config
from headtypes.planning.tools.jobs import Job, changes, differing, spec_changes


@dataclass
class Work:
    """What a rule has to do: what each of its jobs is expected to take, and why they run, {reason: jobs}.

    seconds:   of all jobs together.
    estimated: seconds for rules that have never run.
    """

    seconds: float = 0.0
    estimated: float = 0.0
    estimates: list[Estimate] = field(default_factory=list)
    why: Counter[str] = field(default_factory=Counter)


def preview(
    jobs: Iterable[Job], configs: dict[Path, Config], estimates: Mapping[tuple[str, ...], Estimate]
) -> dict[str, Work]:
    """The work of each rule that has jobs to run, in the order of the jobs.

    configs:   the configuration of each folder of results.
    estimates: of all jobs, by their outputs (`tools.estimates`).
    A job's time is that of its last run; or else the mean of its rule, in proportion to the estimates; or else its
    estimate. Reasons name the leaf of the configuration or the module that has changed.
    """
    jobs = list(jobs)
    leaves = {results: _changed_leaves(results, config) for results, config in configs.items()}
    factors = _measured(jobs, estimates)
    running = {path: job for job in jobs if job.runs for path in job.outputs}
    work_of: dict[str, Work] = {}
    for job in jobs:
        if job.runs:
            work, seconds, estimate = work_of.setdefault(job.rule, Work()), _benchmark(job), estimates[job.outputs]
            if seconds is None:
                seconds = factors.get(job.rule, 1) * estimate.seconds
                work.estimated += 0 if job.rule in factors else seconds
            work.seconds += seconds
            work.estimates.append(estimate)
            work.why.update(_reasons(job, leaves[job.results], running))
    return work_of


def superseded(jobs: Iterable[Job]) -> str:
    """How many results will be replaced, stay beside new ones, and are made by no job; empty for none."""
    jobs = list(jobs)
    kept = sum(Path(path).exists() for job in jobs if not job.runs for path in job.outputs)
    made = sum(Path(path).exists() for job in jobs if job.runs for path in job.outputs)
    said = [f"Files of results that will be replaced: {made:,}; another --directory keeps them."] if made else []
    if kept and any(job.runs for job in jobs):
        said.append(f"Files of results that stay: {kept:,}.")
    if left := len(unused(jobs)):
        said.append(f"Files that no job of this plan makes: {left:,}; python commands/unused.py names those to remove.")
    return " ".join(said)


def unseen(jobs: Iterable[Job]) -> str:
    """That Snakemake does not see what has changed for some results, in a sentence; empty where it sees all.

    It has forgotten with which settings and code they were made, as where results were copied without `.snakemake`, or
    is told not to look at them (`--rerun-triggers`).
    """
    others = sum(not job.runs and _made_otherwise(job) for job in jobs)
    if not others:
        return ""
    return (
        f"Jobs that will not run although their settings or code have changed: {others:,}. Snakemake has no record of "
        "how their results were made, or was told not to look; python commands/audit.py names them, and with --remove "
        "has them made again."
    )


def _made_otherwise(job: Job) -> bool:
    try:
        record = recorded(job.outputs[0]) if Path(job.outputs[0]).exists() else None
    except InputError:
        return True
    return record is not None and bool(changes(job, record))


def preview_text(work_of: dict[str, Work], cores: int, speed: float) -> str:
    """The preview as text: a line per rule, followed by its reasons and how many jobs have them; then how good it is.

    Times are processor time, which other work of the machine does not lengthen.

    speed: of this machine, in operations per second, which the estimates come from.
    """
    if not work_of:
        return "Nothing to be done."
    first: dict[str, str] = {}
    lines = [f"{'rule':24} {'jobs':>6} {'cpu time':>9} {'memory':>8} {'disk':>8}"]
    for rule, work in work_of.items():
        memory = _size(max(estimate.mem_mb for estimate in work.estimates))
        disk = _size(sum(estimate.disk_mb for estimate in work.estimates))
        lines.append(f"{rule:24} {len(work.estimates):6,} {_duration(work.seconds):>9} {memory:>8} {disk:>8}")
        lines += [f"  {count:,} x {reason}" for reason, count in _said_once(rule, work.why, first)]
    jobs = [estimate for work in work_of.values() for estimate in work.estimates]
    seconds = sum(work.seconds for work in work_of.values())
    lines.append(
        f"{len(jobs):,} jobs, {_duration(seconds)} of processor time: {_duration(seconds / cores)} on {cores} cores."
    )
    return "\n".join([*lines, *_needed(jobs), *_basis(work_of, jobs, seconds, speed)])


def _said_once(rule: str, why: Counter[str], first: dict[str, str]) -> Iterator[tuple[str, int]]:
    """The reasons of a rule and how many jobs have them; those that an earlier rule has, too, are counted.

    first: the rule that gave a reason first, which grows.
    """
    known = Counter((first[reason], count) for reason, count in why.items() if reason in first)
    for reason, count in why.most_common():
        if known[first.setdefault(reason, rule), count] < 2:
            yield reason, count
    for (earlier, count), reasons in known.items():
        if reasons > 1:
            yield f"{reasons} reasons given for {earlier}", count


def _needed(estimates: list[Estimate]) -> list[str]:
    most, disk = max(estimate.mem_mb for estimate in estimates), sum(estimate.disk_mb for estimate in estimates)
    download, temporary = sum(each.download_mb for each in estimates), max(each.temporary_mb for each in estimates)
    lines = [f"A job asks for at most {_size(most)} of memory; the results take about {_size(disk)} of disk."]
    lines += sorted({each.placed for each in estimates if each.placed})
    lines += sorted(f"A job will fail: {said}" for said in {it for each in estimates for it in each.refused})
    if temporary:
        lines.append(f"While a model is fine-tuned, its checkpoint takes up to {_size(temporary)} more.")
    if download:
        lines.append(f"About {_size(download)} of weights are downloaded to the cache of the Hugging Face Hub.")
    return lines


def _basis(work_of: dict[str, Work], estimates: list[Estimate], seconds: float, speed: float) -> list[str]:
    """How good the times are, in words."""
    estimated = sum(work.estimated for work in work_of.values())
    assumed = sorted({key for each in estimates for key in each.assumed})
    if not estimated:
        return ["Times are those that such jobs took before."]
    lines = []
    if estimated < seconds:
        lines.append(f"{_duration(seconds - estimated)} of this is what such jobs took before.")
    lines.append(
        f"{_duration(estimated)} of this is estimated from the sizes of models and texts and the speed of this machine "
        f"({speed / 1e9:.0f} billion operations per second and core)."
        + ("" if assumed else " It may be half or twice as much.")
    )
    if assumed:
        lines.append(
            "Not on this machine yet, or not to be read, and so counted as models of the size of BERT-large and data "
            f"of the size of SQuAD's dev set: {', '.join(assumed)}. Here the estimate is only an order of magnitude."
        )
    return lines


def _size(megabytes: float) -> str:
    return f"{megabytes / 1000:.1f} GB" if megabytes >= 1000 else f"{math.ceil(megabytes)} MB"


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=max(round(seconds), 1)))


def _reasons(job: Job, leaves: dict[str, Callable[[Job], bool]], running: dict[str, Job]) -> list[str]:
    missing = [path for path in job.outputs if not Path(path).exists()]
    before = list(dict.fromkeys(running[path].rule for path in job.inputs if path in running))
    if missing:
        return ["new"] if len(missing) == len(job.outputs) else [f"{missing[0]} is missing"]
    try:
        record = recorded(job.outputs[0])
    except InputError:
        return ["the record of what made it is damaged"]
    own = [] if record is None else [*_named(job, record, leaves), *_replaced(job, record)]
    follows = [f"after {', '.join(before)}"] if before else []
    touched = [f"{path} is newer than what was made of it" for path in job.newer]
    return own or follows or touched or list(job.reasons)


def _replaced(job: Job, record: dict) -> list[str]:
    """The user's files that hold something else than when the result was made."""
    of_user = [path for path in job.inputs if results_folder(path) != job.results]
    now, then = contents_of(of_user, job.outputs[0]), record["inputs"]
    return [f"{path} has changed" for path in now if then.get(path, now[path]) != now[path]]


def _named(job: Job, record: dict, leaves: dict[str, Callable[[Job], bool]]) -> list[str]:
    """What has changed; changes of the spec are given as the values of the configuration that cause them."""
    all_changes = changes(job, record)
    responsible = [leaf for leaf, changes_spec in leaves.items() if changes_spec(job)]
    if not responsible:
        return all_changes
    of_spec = spec_changes(json.loads(job.spec), record["spec"])
    return responsible + [change for change in all_changes if change not in of_spec]


def _changed_leaves(results: Path, config: Config) -> dict[str, Callable[[Job], bool]]:
    """The values of the config that differ from the last complete run.

    returns {the change, in words: a function that says whether this change alone changes the spec of a job}.
    """
    now = given(config)
    try:
        then = remembered_config(results)
    except InputError:
        return {}
    if not isinstance(then, dict):
        return {}
    leaves = {}
    for path, old, new in differing(then, now):
        words = f"{'.'.join(path)}: {_shown(old)}, now {_shown(new)}"
        try:
            leaves[words] = _changes_spec(Plan(read_config(_with(now, path, old))))
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


def _with(part: dict, path: Sequence[str], value: object) -> dict:
    key, *rest = path
    if not rest and value is None:
        return {name: kept for name, kept in part.items() if name != key}
    return {**part, key: _with(part.get(key) or {}, rest, value) if rest else value}


def _measured(jobs: list[Job], estimates: Mapping[tuple[str, ...], Estimate]) -> dict[str, float]:
    """The mean time of each rule's past jobs, in seconds per second of their estimates."""
    measured: dict[str, list[tuple[float, float]]] = {}
    for job in jobs:
        if (seconds := _benchmark(job)) is not None:
            measured.setdefault(job.rule, []).append((seconds, estimates[job.outputs].seconds))
    return {rule: mean(a for a, _ in pairs) / mean(b for _, b in pairs) for rule, pairs in measured.items()}


def _benchmark(job: Job) -> float | None:
    if job.benchmark is None or not Path(job.benchmark).is_file():
        return None
    # Snakemake does not wait until it is on the disk, so that a power cut can leave it empty or cut off.
    with suppress(KeyError, TypeError, ValueError), open(job.benchmark, encoding="utf-8", newline="") as file:
        return mean(_processor_seconds(row) for row in csv.DictReader(file, delimiter="\t"))
    return None


def _processor_seconds(row: Mapping[str, str]) -> float:
    """The processor time of a job; where Snakemake has not looked while it ran, as of a short one, its time.

    In a job that is no fork, `cpu_time` ends when Snakemake last looked, which it does every half a minute.
    """
    clock, load = float(row["s"]), _number(row, "mean_load") / 100
    return max(_number(row, "cpu_time"), load * clock) or clock


def _number(row: Mapping[str, str], name: str) -> float:
    """What a column has, where it has a number above 0; else 0."""
    with suppress(KeyError, TypeError, ValueError):
        number = float(row[name])
        return number if 0 < number < math.inf else 0.0
    return 0.0
