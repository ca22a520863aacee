"""What is hashed is what runs: a job compares the code that it has imported with that with which it was planned."""

import os
from pathlib import Path

import headtypes
from headtypes.core.errors import InputError
from headtypes.core.files import read_json, sha256_file, write_json
from headtypes.planning.code.digest import code_digest, code_parts, reached_modules
from headtypes.planning.provenance import folder_of_records


def find_first(folder: Path) -> None:
    """Have the processes of jobs import packages from this folder before any other.

    Snakemake has scripts find it last, so that an installed package of the same name would be found before.
    """
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


def remember_code(results: Path, script: Path) -> None:
    """Write what a script's digest is made of, so that a later change can be traced to a definition.

    The SHA-256 of its files is written too, by which jobs see in a moment that none has changed.
    results: the folder of results.
    """
    path, files = code_file(results, code_digest(script)), _hashes(script)
    if not path.exists():
        write_json(path, code_parts(script))
    if _read(_files_beside(path)) != files:
        write_json(_files_beside(path), files)


def code_file(results: Path, digest: str) -> Path:
    """Where `remember_code` writes what a digest is made of."""
    return folder_of_records(results) / "code" / f"{digest}.json"


def check_code(planned: str, script: Path, results: Path, imported: Path | None = None) -> None:
    """Raise `InputError` where a job has imported other code than that with which it was planned.

    planned:  the digest of its code; script: the job's.
    results:  the folder of results, where the run has written what the digest is made of.
    imported: the folder from which the package is imported; by default that of this module.
    """
    imported, path = imported or Path(headtypes.__file__).resolve().parents[1], code_file(results, planned)
    files, then = _read(_files_beside(path)), _read(path)
    if files and all(_hash(_place(name, script, imported)) == sha256 for name, sha256 in files.items()):
        return
    now = code_parts(script, imported)
    # Under --sdm conda, the environment of a job has other packages than that of its plan.
    if (then and _of_code(then) == _of_code(now)) or code_digest(script, imported) == planned:
        return
    if imported == script.parent:
        raise InputError(f"the code in {imported} has changed since this run was planned; run again.")
    raise InputError(
        f"the package headtypes was imported from {imported}, and is not the one of this workflow in {script.parent}; "
        "uninstall it (pip uninstall headtypes) or take its folder from PYTHONPATH, and run again."
    )


def _hashes(script: Path) -> dict[str, str]:
    return {name: sha256_file(script.parent / name) for name in sorted(reached_modules(script))}


def _place(name: str, script: Path, imported: Path) -> Path:
    """A file of a job: the script itself, or one of those that it imports."""
    return script if name == script.name else imported / name


def _hash(file: Path) -> str | None:
    return sha256_file(file) if file.is_file() else None


def _of_code(parts: dict[str, str]) -> dict[str, str]:
    """The parts of a digest without the versions of packages."""
    return {name: digest for name, digest in parts.items() if ":" in name or name.startswith("(")}


def _files_beside(path: Path) -> Path:
    return path.with_name(f"{path.stem}.files.json")


def _read(path: Path) -> dict | None:
    """A file that the run has left for its jobs; None where there is none, or it is damaged."""
    try:
        found = read_json(path) if path.is_file() else None
    except InputError:
        return None
    return found if isinstance(found, dict) and found else None
