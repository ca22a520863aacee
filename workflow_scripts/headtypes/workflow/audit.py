"""Whether the results on disk are those of a configuration, by what stands beside them alone."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from headtypes.base.files import sha256_path
from headtypes.base.progress import progress
from headtypes.workflow.jobs import Job, changes
from headtypes.workflow.provenance import RESULTS, beside, folder_of_records, is_shard, recorded, results_folder

# Made on demand from the results, by another command.
_ON_DEMAND = "report.html"


@dataclass(frozen=True)
class Finding:
    """A result that is not as it should be.

    state: missing; foreign (made by nobody knows whom, or not of this configuration); damaged (changed since it was
        made); or stale (made by another spec or code, or from other inputs than the present ones).
    """

    path: str
    state: str
    why: str


def audit(jobs: Iterable[Job]) -> list[Finding]:
    """Check every result of the jobs, producers before consumers, and all other files of the results folder.

    Every file is read once. What comes from a result that is not as it should be is stale itself.
    """
    jobs = [job for job in jobs if not all(map(is_shard, job.outputs))]
    check = _Check()
    with progress(sum(len(job.outputs) for job in jobs), "audit", "results") as bar:
        for job in jobs:
            for path in job.outputs:
                check(path, job)
                bar.update(1)
    return [*check.found.values(), *_foreign(jobs)]


def remove(findings: Iterable[Finding]) -> list[str]:
    """Remove what is stale or damaged, and what stands beside it; return the paths."""
    gone = [finding.path for finding in findings if finding.state in ("stale", "damaged")]
    for path in map(Path, gone):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
        beside(path).unlink(missing_ok=True)
    return gone


class _Check:
    """Checks results one after the other, and keeps what it found and read for those that come from them."""

    def __init__(self):
        self.found: dict[str, Finding] = {}
        self._sha256 = cache(sha256_path)

    def __call__(self, path: str, job: Job) -> None:
        state, why = self._state(path, job)
        if state:
            self.found[path] = Finding(path, state, why)

    def _state(self, path: str, job: Job) -> tuple[str, str]:
        if not Path(path).exists():
            return "missing", "it is not there"
        was = recorded(path)
        if was is None:
            return "foreign", "nothing says what made it"
        if self._sha256(path) != was["sha256"]:
            return "damaged", "it has changed since it was made"
        why = [*changes(job, was), *self._input_changes(job, was["inputs"])]
        return ("stale", "; ".join(why)) if why else ("", "")

    def _input_changes(self, job: Job, read: dict[str, str]) -> Iterator[str]:

        def is_result(path: str) -> bool:
            return results_folder(path) == job.results

        inside = [path for path in job.inputs if is_result(path) and not is_shard(path)]
        if set(inside) != set(filter(is_result, read)):
            yield "it was made from other results"
            return
        for path in inside:
            if path in self.found:
                yield f"{path} is {self.found[path].state}"
            elif self._sha256(path) != read[path]:
                yield f"it was made from another {path}"
        # Files of the user's may lie elsewhere on this machine: they count by what they hold.
        outside = [path for path in job.inputs if not is_result(path)]
        gone = [path for path in outside if not Path(path).exists()]
        before = Counter(digest for path, digest in read.items() if not is_result(path))
        if gone:
            yield f"{gone[0]} is not there"
        elif Counter(map(self._sha256, outside)) != before:
            yield f"it was made from other contents of {', '.join(outside) or 'files that are no longer named'}"


def _foreign(jobs: list[Job]) -> Iterator[Finding]:
    folders = {job.results for job in jobs} or {RESULTS}
    known = {Path(path) for job in jobs for path in (*job.outputs, job.benchmark) if path is not None}
    known |= {folder / _ON_DEMAND for folder in folders}
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if (
            path.is_dir()
            or path.is_relative_to(folder_of_records(results_folder(path)))
            or is_shard(path)
            or not known.isdisjoint((path, *path.parents))
        ):
            continue
        made = path.name.endswith("benchmark.tsv") or recorded(path) is not None
        why = "it belongs to another configuration" if made else "nothing says what made it"
        yield Finding(str(path), "foreign", why)
