"""The origin of each result, recorded in a file: that of `results/a/b.csv` in `results/provenance/a/b.csv.json`."""

import platform
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from headtypes.core.errors import InputError
from headtypes.core.files import StrPath, leftovers, read_json, sha256_path, write_json
from headtypes.models.records import version_of
from headtypes.models.stage import RECORD, fetch_model
from headtypes.planning.code import NUMERIC_PACKAGES, package_version

RESULTS = Path("results")  # unless another workflow uses this one under a prefix
_IDENTITY = ("hub", "package", "revision", "sha256", "weights", "split")


# No folder inside of that of all results is named `results`, as `checks.check` ensures; one above may be.
def results_folder(path: StrPath) -> Path | None:
    """Return the innermost folder named `results` that holds a path; None if there is none."""
    return next((folder for folder in Path(path).parents if folder.name == RESULTS.name), None)


def folder_of_records(results: Path) -> Path:
    return results / "provenance"


def provenance_of(
    rule: str, wildcards: dict, spec: dict, code: str, inputs: Iterable[str], results: Path = RESULTS
) -> dict:
    """Return a dict of what a job's results are made with and from; call this function before the job runs.

    spec: the part of the configuration that the rule depends on. code: hash of the job's code.
    inputs: paths of the job's inputs. results: folder of all results.
    Keys: rule, wildcards, spec, code, as given; packages, {name: version}; python, its version; git; sources.
    git: the commit, with "-dirty" if tracked files were edited; None outside a repository.
    sources: {name of a model or data set that the inputs come from: {"hub", "sha256", ...}}.
    """
    return {
        "rule": rule,
        "wildcards": wildcards,
        "spec": spec,
        "code": code,
        # What every record has; which of them count is for the hash of the code and, of readers, the spec to say.
        "packages": {package: package_version(name) for name, package in NUMERIC_PACKAGES.items()}
        | {"gguf": version_of("gguf")},
        "python": platform.python_version(),
        "git": _commit(),
        "sources": _sources(inputs, results),
    }


def forget(outputs: Iterable[str]) -> None:
    """Remove the records of results that a job is about to make again, and temporary files that killed jobs left."""
    for path in outputs:
        for file in (beside(path), *leftovers(path), *leftovers(beside(path))):
            file.unlink(missing_ok=True)


def verified(inputs: Iterable[str], results: Path = RESULTS) -> dict[str, str]:
    """Return {path: SHA-256} of inputs; raise `InputError` if one in `results` has a record, but of another SHA-256."""
    read = {path: sha256_path(path) for path in inputs}
    for path, digest in read.items():
        known = recorded(path) if results_folder(path) == results else None
        if known and known["sha256"] != digest:
            raise InputError(
                f"{path} was damaged or changed since it was made: its SHA-256 is not the one in {beside(path)}; "
                f"delete {path} and run again."
            )
    return read


def state_of(inputs: Iterable[str], results: Path = RESULTS) -> dict[str, list[int]]:
    """Return {path: [size in bytes, modification time, inode change time, in ns]} of inputs outside of `results`.

    Call it before the files are read, so that a later edit can be seen.
    """
    return {path: _state(path) for path in inputs if results_folder(path) != results and Path(path).is_file()}


def contents_of(files: Iterable[str], result: str) -> dict[str, str]:
    """Return {path: SHA-256} of those of the user's `files` that exist.

    result: path of a result that was made from `files`. If a file's size and times are still those in the result's
    record, its SHA-256 is taken from the record, and the file is not read.
    """
    try:
        known = recorded(result) or {}
    except InputError:
        known = {}
    states, digests = known.get("states", {}), known.get("inputs", {})
    return {
        path: digests[path] if path in digests and states.get(path) == _state(path) else sha256_path(path)
        for path in files
        if Path(path).is_file()
    }


def wrong_weights(plan: Any, results: Path = RESULTS) -> dict[str, str]:
    """Return {path of a model's record: message} of fetched models whose weights have not the SHA-256 in the config.

    A model that will be fetched again is left out, because the job that fetches it checks the weights.
    plan: a `headtypes.planning.plan.Plan`. results: folder of all results.
    """
    wrong = {}
    for name, model in plan.config.models.items():
        expected, path = model.source.sha256, f"{results}{RECORD.path.removeprefix(RESULTS.name)}".format(model=name)
        known = recorded(path) if expected and Path(path).is_file() else None
        if known is None or known["spec"] != fetch_model.spec(plan, name):
            continue
        digests = list(read_json(path)["weights"].values())
        if digests != [expected] and contents_of(plan.model_files(name), path).items() <= known["inputs"].items():
            has = f"the model that was fetched has {' and '.join(digests)}, by {path}, and not {expected}"
            wrong[path] = f"config: models.{name}.source.sha256: {has}; correct the key, or name other files."
    return wrong


def _state(path: str) -> list[int]:
    status = Path(path).stat()
    # All files of some archives and images have one time of change (1970); that of the inode nobody can set.
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def record(
    provenance: dict, read: dict[str, str], outputs: Iterable[str], threads: int, states: dict | None = None
) -> None:
    """Write the record of each output of a job that has succeeded, with the output's SHA-256.

    provenance: the result of `provenance_of`; threads: number of threads that the job had.
    read: {path: SHA-256} of the inputs, from `verified`; states: the result of `state_of`, if any.
    """
    own = {name: source for path in outputs for name, source in _sources([path], results_folder(path)).items()}
    whole = {**provenance, "sources": {**provenance["sources"], **own}, "threads": threads, "inputs": read}
    whole |= {"states": states} if states else {}
    whole["modules"] = sorted(name for name in sys.modules if name.startswith("headtypes."))
    for path in outputs:
        write_json(beside(path), {**whole, "sha256": sha256_path(path)})


def recorded(path: StrPath) -> dict | None:
    return read_json(beside(path)) if beside(path).is_file() else None


def beside(path: StrPath) -> Path:
    results = results_folder(path)
    return folder_of_records(results) / f"{Path(path).relative_to(results)}.json"


def _sources(paths: Iterable[str], results: Path) -> dict[str, dict]:
    sources, folder = {}, results / "sources"
    for path in (Path(path) for path in paths if results_folder(path) == results):
        sources |= (recorded(path) or {}).get("sources", {})
        # A file of this folder describes a model or data itself.
        if path.is_relative_to(folder) and path.suffix == ".json" and path.is_file():
            source, name = read_json(path), path.relative_to(folder).with_suffix("").as_posix()
            sources[name] = {key: source[key] for key in _IDENTITY if source.get(key) is not None}
    return sources


@cache
def _commit() -> str | None:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        run = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run.stdout.strip() or None
