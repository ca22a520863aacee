"""A folder that appears under its name only when every file in it is on disk."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from headtypes.core.errors import InputError
from headtypes.core.files import sha256_file, writing
from headtypes.deposit.parts import Part
from headtypes.planning.provenance import RESULTS

# As `sha256sum --check` reads it.
SUMS = "SHA256SUMS"


def write_folder(output: Path, parts: Sequence[Part], describe: Callable[[Path, Mapping[str, str]], Path]) -> None:
    """Write a deposit's files, their description and their SHA-256, all or none.

    describe: writes the description into a folder that holds the parts, given the SHA-256 of each by its path, and
        returns the file.
    Raises `InputError` where `output` holds something or cannot be written, or a result is not what its record says.
    """
    check_new(output)
    with _new_folder(output) as folder:
        sums = {part.path: _put(folder, part) for part in parts}
        description = describe(folder, sums)
        sums |= {description.name: sha256_file(description)}
        lines = (f"{digest}  {path}\n" for path, digest in sorted(sums.items()))
        (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def check_new(output: Path) -> None:
    """Raise `InputError` where a deposit would lie over something else."""
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InputError(f"{output.absolute()} is not empty; name another folder with --output, or delete it.")


@contextmanager
def _new_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder beside `path`; move it into place when the block ends well, else remove it."""
    path = path.absolute()
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            for left in path.parent.glob(f".{path.name}.*.unfinished"):
                if not _alive(left):
                    shutil.rmtree(left)
            unfinished.mkdir()
            yield unfinished
            os.replace(unfinished, path)
    finally:
        with suppress(OSError):
            shutil.rmtree(unfinished)


def _put(folder: Path, part: Part) -> str:
    """Write one file of a deposit into a folder and return its SHA-256."""
    file = folder / part.path
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(part.source, str):
        file.write_text(part.source, encoding="utf-8")
    else:
        # Of a result, the record says what it holds; a link in place of a record may lead to any file of the user's.
        if part.sha256 is None and part.path.startswith(f"{RESULTS}/") and part.source.is_symlink():
            raise InputError(f"{part.source} is a link to {os.readlink(part.source)}; put the file itself there.")
        shutil.copyfile(part.source, file)
    digest = sha256_file(file)
    if part.sha256 not in (None, digest):
        raise InputError(f"{part.source} changed while it was copied; run commands/audit.py, then this again.")
    return digest


def _alive(unfinished: Path) -> bool:
    """Whether the process that an unfinished folder is named after is alive."""
    try:
        os.kill(int(unfinished.name.split(".")[-2]), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        return True
    return True
