"""Whether the results on disk belong to a configuration, judged by their records of provenance alone."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from headtypes.core.errors import InputError
from headtypes.core.files import sha256_path
from headtypes.core.progress import progress
from headtypes.planning.provenance import RESULTS, beside, folder_of_records, is_shard, recorded, results_folder
from headtypes.planning.tools.jobs import Job, changes

# Of a file that this workflow has not made.
_UNKNOWN = "there is no record of what made it"
# What `snakemake --report` writes.
_ON_DEMAND = "report.html"


@dataclass(frozen=True)
class Finding:
    """A result that is not as it should be.

    state: missing; foreign (without a record, or of another configuration); damaged (changed since it was made); or
        stale (made with another spec or code, or from other inputs, than the present ones).
    """

    path: str
    state: str
    why: str


def audit(jobs: Iterable[Job]) -> list[Finding]:
    """Check every result of the jobs, given producers first, and all other files of the results folder.

    Every file is read once. A result made from one that is not as it should be is stale itself.
    """
    planned = list(jobs)
    jobs = [job for job in planned if not all(map(is_shard, job.outputs))]
    check = _Check()
    with progress(sum(len(job.outputs) for job in jobs), "audit", "results") as bar:
        for job in jobs:
            for path in job.outputs:
                check(path, job)
                bar.update(1)
    return [*check.findings.values(), *_foreign(planned)]


def remove(findings: Iterable[Finding]) -> list[str]:
    """Remove stale and damaged results and their records; return the paths of the results."""
    removed = [finding.path for finding in findings if finding.state in ("stale", "damaged")]
    for path in map(Path, removed):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
        beside(path).unlink(missing_ok=True)
    return removed


class _Check:
    """Checks results one by one, and remembers findings and digests for the results made from them."""

    def __init__(self):
        self.findings: dict[str, Finding] = {}
        self._sha256 = cache(sha256_path)

    def __call__(self, path: str, job: Job) -> None:
        state, why = self._state(path, job)
        if state:
            self.findings[path] = Finding(path, state, why)

    def _state(self, path: str, job: Job) -> tuple[str, str]:
        if not Path(path).exists():
            return "missing", "it is not there"
        if not (Path(path).is_file() or Path(path).is_dir()):
            return "damaged", "it is neither a file nor a folder"
        try:
            record = recorded(path)
        except InputError:
            return "damaged", f"the record of what made it, {beside(path)}, is damaged"
        if record is None:
            return "foreign", "there is no record of what made it"
        if self._sha256(path) != record["sha256"]:
            return "damaged", "it has changed since it was made"
        why = [*changes(job, record), *self._input_changes(job, record["inputs"])]
        return ("stale", "; ".join(why)) if why else ("", "")

    def _input_changes(self, job: Job, read: dict[str, str]) -> Iterator[str]:

        def is_result(path: str) -> bool:
            return results_folder(path) == job.results

        inside = [path for path in job.inputs if is_result(path) and not is_shard(path)]
        if set(inside) != set(filter(is_result, read)):
            yield "it was made from other results"
            return
        for path in inside:
            if path in self.findings:
                yield f"{path} is {self.findings[path].state}"
            elif self._sha256(path) != read[path]:
                yield f"it was made from another version of {path}"
        # The user's files may lie in another place on this machine, so they are compared by content.
        outside = [path for path in job.inputs if not is_result(path)]
        absent = [path for path in outside if not Path(path).exists()]
        before = Counter(digest for path, digest in read.items() if not is_result(path))
        if absent:
            yield f"{absent[0]} is not there"
        elif Counter(map(self._sha256, outside)) != before:
            yield f"the contents of {', '.join(outside) or 'files that are no longer inputs'} have changed"


def unused(jobs: Iterable[Job]) -> list[Path]:
    """The files in the folders of results that were made by this workflow, and that none of the jobs makes or reads.

    They belong to another configuration, such as that before an edit, or are shards of a run that was stopped.
    """
    return [path for path, why in _left_over(list(jobs)) if why != _UNKNOWN]


def remove_unused(paths: Iterable[Path]) -> None:
    """Remove files as `unused` finds them, their records, and the folders that are then empty."""
    for path in paths:
        path.unlink()
        results = results_folder(path)
        for made in (path, *path.parents):
            if made == results:
                break
            if made.is_dir() and not any(made.iterdir()):
                made.rmdir()
            if not made.exists():
                beside(made).unlink(missing_ok=True)


def _foreign(jobs: list[Job]) -> Iterator[Finding]:
    return (Finding(str(path), "foreign", why) for path, why in _left_over(jobs))


def _left_over(jobs: list[Job]) -> Iterator[tuple[Path, str]]:
    """Each file in the folders of results that no job writes, and why it is there."""
    folders = {job.results for job in jobs} or {RESULTS}
    known = {Path(path) for job in jobs for path in (*job.outputs, job.benchmark) if path is not None}
    known |= {folder / _ON_DEMAND for folder in folders}
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        results = results_folder(path)
        of_record = path.is_relative_to(folder_of_records(results))
        if path.is_dir() or of_record or not known.isdisjoint((path, *path.parents)):
            continue
        # A result may be a folder.
        made = [path, *(each for each in path.parents if each.is_relative_to(results) and each != results)]
        if is_shard(path):
            yield path, "it is left over from a run that was stopped, and no job merges it"
        elif path.name.endswith("benchmark.tsv") or any(beside(each).is_file() for each in made):
            yield path, "it belongs to another configuration"
        else:
            yield path, _UNKNOWN
