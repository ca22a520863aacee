"""What made a result: written into the result where its format can hold it, and always beside it.

Beside `results/a/b.csv` stands `results/provenance/a/b.csv.json`. With it, results can be checked against a
configuration on any machine (`headtypes.workflow.audit`), without what Snakemake remembers.
"""

import platform
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from headtypes.base.errors import InputError
from headtypes.base.files import leftovers, read_json, sha256_path, write_json
from headtypes.workflow.packages import NUMERIC_PACKAGES, version

# Where results lie, unless another workflow uses this one under a prefix.
RESULTS = Path("results")
# What says of a model or a data set which it was, on whatever machine.
_IDENTITY = ("hub", "package", "world", "revision", "sha256", "weights", "seed", "split", "size")


def results_folder(path: str | Path) -> Path | None:
    """The folder of results that a path lies in, None where it lies in none.

    It is the last one of this name: a prefix may have it too, whereas nothing below may (`config.checks.check_names`).
    """
    return next((folder for folder in Path(path).parents if folder.name == RESULTS.name), None)


def folder_of_records(results: Path) -> Path:
    """Where it is written what made the results of a folder."""
    return results / "provenance"


def provenance_of(
    rule: str, wildcards: dict, spec: dict, code: str, inputs: Iterable[str], results: Path = RESULTS
) -> dict:
    """What makes the results of a job, before it makes them.

    rule, wildcards, spec, code: as Snakemake gives them; seeds are in the spec, `code` is `digest.code_digest`.
    inputs:  paths, so that the models and data that they come from are known; results: the folder of the results.
    returns  these, and packages {name: version}, python, git (commit, with "-dirty" where tracked files differ from
        it; None outside a repository) and sources {name: what identifies the model or the data}.
    """
    return {
        "rule": rule,
        "wildcards": wildcards,
        "spec": spec,
        "code": code,
        "packages": {name: version(imported) for imported, name in NUMERIC_PACKAGES.items()},
        "python": platform.python_version(),
        "git": _commit(),
        "sources": _sources(inputs, results),
    }


def forget(outputs: Iterable[str]) -> None:
    """Remove what stands beside results that are about to be made anew, and what killed jobs left of them."""
    for path in outputs:
        for left in (beside(path), *leftovers(path), *leftovers(beside(path))):
            left.unlink(missing_ok=True)


def verified(inputs: Iterable[str], results: Path = RESULTS) -> dict[str, str | None]:
    """The SHA-256 of each input of a job: {path: digest, or None for a shard, which has checksums of its own}.

    results: the folder of the job's results; inputs from elsewhere are the user's, and nothing is recorded of them.
    Raises `InputError` where a result is not what was recorded when it was made.
    """
    ours = {path: results_folder(path) == results for path in inputs}
    read = {path: None if result and is_shard(path) else sha256_path(path) for path, result in ours.items()}
    for path, digest in read.items():
        known = digest and ours[path] and recorded(path)
        if known and known.get("sha256", digest) != digest:
            raise InputError(
                f"{path} was damaged or changed since it was made: its SHA-256 is not the one in {beside(path)}; "
                f"delete {path} and run again."
            )
    return read


def record(provenance: dict, read: dict[str, str | None], outputs: Iterable[str], threads: int) -> None:
    """Write what made them beside the outputs of a job that has ended well.

    provenance, read: as `provenance_of` and `verified` gave them. Each record also holds the threads of the job,
        from how many shards it was joined, and the SHA-256 of its inputs and of the output itself. Shards, which are
        gone once joined, have no record.
    """
    outputs = [path for path in outputs if not is_shard(path)]
    inputs = {path: digest for path, digest in read.items() if digest is not None}
    made = {name: source for path in outputs for name, source in _sources([path], results_folder(path)).items()}
    sources, shards = {**provenance["sources"], **made}, max(1, len(read) - len(inputs))
    whole = {**provenance, "sources": sources, "threads": threads, "shards": shards, "inputs": inputs}
    for path in outputs:
        write_json(beside(path), {**whole, "sha256": sha256_path(path)})


def recorded(path: str | Path) -> dict | None:
    """What stands beside a result; None where nothing does. Raises `InputError` where that is damaged."""
    if not beside(path).is_file():
        return None
    found = read_json(beside(path))
    if not (isinstance(found, dict) and isinstance(found.get("sources", {}), dict)):
        raise InputError(f"{beside(path)} is damaged; delete it and {path}, and run again.")
    return found


def shards_of(path: str | Path) -> int | None:
    """From how many shards a result was joined; None where there is no such result."""
    was = recorded(path) if Path(path).exists() else None
    return was and was.get("shards", 1)


def is_shard(path: str | Path) -> bool:
    """Whether a file is joined with others into a result."""
    results = results_folder(path)
    return results is not None and Path(path).is_relative_to(results / "shards")


def beside(path: str | Path) -> Path:
    """Where what made a result is written."""
    results = results_folder(path)
    return folder_of_records(results) / f"{Path(path).relative_to(results)}.json"


def _sources(paths: Iterable[str], results: Path) -> dict[str, dict]:
    """Models and data that files come from: {models/…, tasks/… or training/…: what identifies them}."""
    found, folder = {}, results / "sources"
    for path in map(Path, paths):
        if results_folder(path) != results:
            continue
        found |= (recorded(path) or {}).get("sources", {})
        if path.is_relative_to(folder) and path.suffix == ".json":
            source = read_json(path)
            name = path.relative_to(folder).with_suffix("").as_posix()
            found[name] = {key: source[key] for key in _IDENTITY if source.get(key) is not None}
    return found


@cache
def _commit() -> str | None:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None
