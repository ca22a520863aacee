"""What the records of results say of versions, threads and sources, where it differs; in sentences.

None of it makes a result stale: versions that count are in the digest of its code, and equal data may come from another
revision. Yet who reads the results, or gives them away, should know.
"""

import platform
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from headtypes.core.errors import InputError, shortened
from headtypes.planning.provenance import is_shard, packages, recorded, source_of
from headtypes.planning.stages.registry import STAGES
from headtypes.planning.tools.jobs import Job


def disagreements(jobs: Iterable[Job]) -> list[str]:
    """Where records differ from one another, from this environment and from the sources of the plan, in sentences.

    jobs: producers first. Records that are missing or damaged are left to the audit.
    """
    jobs = list(jobs)
    records = {path: record for job in jobs for path in job.outputs if (record := _record(path))}
    return [*_versions(records), *_threads(jobs, records), *_sources(jobs, records), *_reports(jobs)]


def _record(path: str) -> dict | None:
    try:
        return recorded(path) if Path(path).exists() and not is_shard(path) else None
    except InputError:
        return None


def _versions(records: dict[str, dict]) -> Iterator[str]:
    here = {"Python": platform.python_version(), **packages()}
    for name, installed in here.items():
        made = _grouped(records, lambda it, name=name: {"Python": it["python"], **it["packages"]}.get(name, "absent"))
        if made.keys() - {installed}:
            yield f"{name} is {_shown(installed)} here, and results were made with {_counted(made)}."


def _threads(jobs: list[Job], records: dict[str, dict]) -> Iterator[str]:
    by_rule = defaultdict(dict)
    for job in jobs:
        if job.stage in STAGES and STAGES[job.stage].runs_model:
            by_rule[job.rule] |= {path: records[path] for path in job.outputs if path in records}
    for rule, made in by_rule.items():
        threads = _grouped(made, lambda it: it["threads"])
        if len(threads) > 1:
            yield (
                f"Results of {rule} were made with different numbers of threads, and may differ in their last digits: "
                f"{_counted(threads)}."
            )


def _sources(jobs: list[Job], records: dict[str, dict]) -> Iterator[str]:
    """What each result is made from follows from the sources of the plan and from what every job reads."""
    known: dict[str, dict] = {}
    wrong: dict[str, list[str]] = defaultdict(list)
    for job in jobs:
        found = {name: source for path in job.inputs for name, source in known.get(path, {}).items()}
        for path in job.outputs:
            # What is damaged is for the audit to say.
            with suppress(InputError):
                found |= source_of(path, job.results)
        for path in job.outputs:
            known[path] = found
            if path in records:
                of = records[path]["sources"]
                for name in sorted(known[path].keys() | of):
                    if known[path].get(name) != of.get(name):
                        wrong[name].append(path)
    for name, paths in sorted(wrong.items()):
        yield (
            f"The records of {_places(paths)} name another source for {shortened(name)} than results/sources does; "
            "if that is not what they were made from, delete them and run again."
        )


def _reports(jobs: list[Job]) -> Iterator[str]:
    """A report shows what was there when it was made."""
    for folder in sorted({job.results for job in jobs}):
        report = folder / "report.html"
        paths = [Path(path) for job in jobs for path in job.outputs if job.results == folder and Path(path).is_file()]
        newer = [path for path in paths if report.is_file() and path.stat().st_mtime > report.stat().st_mtime]
        if newer:
            yield (
                f"{report} is older than {_places(newer)}, and may show what was there before; make it again "
                f"(snakemake --report {report})."
            )


def _grouped(records: dict[str, dict], said: Callable[[dict], object]) -> dict[object, list[str]]:
    groups = defaultdict(list)
    for path, record in records.items():
        groups[said(record)].append(path)
    return groups


def _counted(groups: dict[object, list[str]]) -> str:
    counts = Counter({value: len(paths) for value, paths in groups.items()})
    return "; ".join(f"{_shown(value)} ({_places(groups[value])})" for value, _ in counts.most_common())


def _shown(value: object) -> str:
    return shortened(str(value))


def _places(paths: list) -> str:
    return f"{paths[0]} and {len(paths) - 1} more" if len(paths) > 1 else str(paths[0])
