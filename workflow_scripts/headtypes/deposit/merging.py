"""Results that were computed elsewhere, put into a run in place of computing them again.

What a result is made with and from is in its record. A deposit's result is taken where that is what the plan of this
run has for its job: the same spec, code and inputs. It is a `joint` one, made again here, where the job reads results
that the deposit has not, as tables over all models do.
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from headtypes.core.errors import InputError, shortened
from headtypes.core.files import atomic_write, read_json, sha256_path, write_json
from headtypes.deposit.reading import Deposit
from headtypes.planning.code.running import code_file
from headtypes.planning.provenance import RESULTS, beside, forget, is_shard, recorded, results_folder
from headtypes.planning.tools.jobs import Job, changes

# Of a model or of data, where they lie on a machine; all else that is known of them has to be the same.
_PLACES = ("folder", "file")
_SAME_CONFIG = (
    "Make the configurations agree (the deposit's is its workflow/config.yaml), and run again where it changes."
)
_SAME_INPUTS = "Use the same models and data in both places, and run again where they change."


@dataclass
class Merge:
    """What of a deposit is merged into a run.

    taken:  the results whose job is as it is here, by path, with the record that each will have.
    copied: those of them that are not here yet, and that the deposit has.
    joint:  those that are made again, since their jobs read other results here.
    absent: those that the deposit leaves out, and that are not here.
    strange: those that no job of this run makes.
    """

    taken: dict[str, dict] = field(default_factory=dict)
    copied: list[str] = field(default_factory=list)
    joint: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)


def compare(jobs: Iterable[Job], deposit: Deposit) -> Merge:
    """What of a deposit can be merged into the run of some jobs, given producers first; writes nothing.

    Raises `InputError` that names the first result whose code, definition or inputs differ, or of which other bytes are
    here; and where no job of the run makes any.
    """
    jobs = [job for job in jobs if not all(map(is_shard, job.outputs))]
    if any(job.results != RESULTS for job in jobs):
        raise InputError(f"Results of a workflow that uses this one under a prefix cannot be merged; name {RESULTS}.")
    comparison = _Comparison(deposit)
    for job in jobs:
        comparison.add(job)
    merge, refused = comparison.merge, comparison.refused
    merge.strange = sorted(deposit.records.keys() - {path for job in jobs for path in job.outputs})
    if refused:
        path, why = next(iter(refused.items()))
        raise InputError(
            f"{deposit.path}: nothing was merged, since {len(refused)} of {len(deposit.records)} results do not fit "
            f"this run. The first is {path}: {why}"
        )
    if not merge.taken:
        raise InputError(
            f"{deposit.path}: none of its {len(deposit.records)} results belongs to this run. Its models and tasks are "
            "in workflow/config.yaml: put them into the configuration here."
        )
    return merge


class _Comparison:
    """Compares job after job; what of a result is found decides about those that are made from it."""

    def __init__(self, deposit: Deposit):
        self.deposit, self.merge = deposit, Merge()
        self.refused: dict[str, str] = {}
        # What is made from a result that is refused, or made again, is no further news.
        self._unfit: set[str] = set()
        self._again: set[str] = set()
        self._here = cache(sha256_path)

    def add(self, job: Job) -> None:
        """Compare what the deposit has of a job's results."""
        records = {path: self.deposit.records[path] for path in job.outputs if path in self.deposit.records}
        inside = [path for path in job.inputs if _is_result(path) and not is_shard(path)]
        for path, record in records.items():
            if not self._unfit.isdisjoint(inside):
                self._unfit.add(path)
            elif set(inside) != set(filter(_is_result, record["inputs"])) or not self._again.isdisjoint(inside):
                self.merge.joint.append(path)
                self._again.add(path)
            elif why := self._difference(path, job, record, inside):
                self.refused[path] = why
                self._unfit.add(path)
            else:
                self._take(path, record, inside)

    def _difference(self, path: str, job: Job, record: dict, inside: Sequence[str]) -> str:
        """Why a result cannot be taken; empty where it can."""
        of_source, here = path.startswith(f"{RESULTS}/sources/"), Path(path).exists()
        if of_source and here:
            # Models and data may lie in another place here, so that what they hold is compared.
            return next(self._other_source(path), "")
        if differing := changes(job, record, self.deposit.code(record["code"])):
            of_code = f"Merge with the code that made it (commit {record.get('git') or 'unknown'})."
            remedy = of_code if record["code"] != job.code else _SAME_CONFIG
            fetched = (
                f" If only its place differs, fetch it here first: snakemake --cores 1 {path}." if of_source else ""
            )
            return f"{shortened('; '.join(differing))}. {remedy}{fetched}"
        for name in inside:
            if record["inputs"][name] not in (self._known(name), self.deposit.records.get(name, {}).get("sha256")):
                return f"it was made from another {name}. {_SAME_INPUTS}"
        outside = [name for name in job.inputs if not _is_result(name)]
        then = Counter(digest for name, digest in record["inputs"].items() if not _is_result(name))
        if lacking := [name for name in outside if not Path(name).exists()]:
            return f"{lacking[0]} is not there; put it there, or change its path in the configuration."
        if not of_source and Counter(map(self._here, outside)) != then:
            return f"it was made from other contents of {', '.join(outside)}. {_SAME_INPUTS}"
        if here and self._here(path) != record["sha256"]:
            return (
                "here it has other bytes, though it should be the same. Nothing is overwritten: let commands/audit.py "
                "say whether it is stale or damaged here, and delete what you do not want to keep."
            )
        return ""

    def _other_source(self, path: str) -> Iterator[str]:
        if path in self.deposit.sums and path.endswith(".json"):
            then, now = self.deposit.json(path), read_json(path)
            for key in sorted({*then, *now}):
                if key not in _PLACES and then.get(key) != now.get(key):
                    yield f"{key} is {_shown(then.get(key))} there and {_shown(now.get(key))} here. {_SAME_INPUTS}"
        elif self._here(path) != self.deposit.records[path]["sha256"]:
            yield f"the data are others there than here. {_SAME_INPUTS}"

    def _take(self, path: str, record: dict, inside: Sequence[str]) -> None:
        inputs = {**record["inputs"], **{name: self._known(name) for name in inside}}
        self.merge.taken[path] = {**record, "inputs": inputs}
        if not Path(path).exists():
            (self.merge.copied if self.deposit.files_of(path) else self.merge.absent).append(path)

    def _known(self, path: str) -> str:
        """The SHA-256 that a result has here, or will have."""
        return self._here(path) if Path(path).exists() else self.deposit.records[path]["sha256"]


def _is_result(path: str) -> bool:
    return results_folder(path) == RESULTS


def _shown(value: object) -> str:
    return shortened(str(value))


def write_merged(merge: Merge, jobs: Iterable[Job], deposit: Deposit) -> None:
    """Copy the results of a merge, producers first: each file with its record is here whole, or not at all.

    A result that is here, and whose record does not say that it is this one, gets the deposit's.
    Raises `InputError` where a file of the deposit has changed since it was checked, or the disk is full.
    """
    for job in jobs:
        for path in job.outputs:
            if path not in merge.taken or path in merge.absent:
                continue
            record, codes = merge.taken[path], code_file(RESULTS, merge.taken[path]["code"])
            if not codes.exists() and (parts := deposit.code(record["code"])):
                write_json(codes, parts)
            if path in merge.copied:
                forget([path])
                # First: a result without a record would be foreign, and be believed.
                write_json(beside(path), record)
                _copy(deposit, path)
            elif not _says(path, record):
                write_json(beside(path), record)
        measured = job.benchmark if not merge.taken.keys().isdisjoint(job.outputs) else None
        if measured in deposit.sums and not Path(measured).exists():
            _copy(deposit, measured)
        _renew(job, merge)


def _says(path: str, record: dict) -> bool:
    """Whether a result's record here says the same as another one."""
    try:
        own = recorded(path)
    except InputError:
        return False
    if path.startswith(f"{RESULTS}/sources/"):
        return own is not None
    return own is not None and all(own[key] == record[key] for key in ("spec", "code", "inputs", "sha256"))


def _copy(deposit: Deposit, path: str) -> None:
    with atomic_write(path) as temporary:
        for inside, name in deposit.files_of(path).items():
            target = temporary / inside if inside else temporary
            target.parent.mkdir(parents=True, exist_ok=True)
            with deposit.open(name) as file, open(target, "wb") as copy:
                shutil.copyfileobj(file, copy)
        if deposit.digest(path) != sha256_path(temporary):
            raise InputError(f"{deposit.path}: {path} changed while it was copied; merge again.")


def _renew(job: Job, merge: Merge) -> None:
    """Give results that were here before new times, if what they are made from has just been copied."""
    own = [path for path in job.outputs if path in merge.taken and Path(path).exists()]
    read = [Path(path).stat().st_mtime_ns for path in job.inputs if _is_result(path) and Path(path).exists()]
    if own and read and min(Path(path).stat().st_mtime_ns for path in own) < max(read):
        for path in own:
            os.utime(path)
