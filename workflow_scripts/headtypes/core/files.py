"""Files: whole or not there at all, their hashes, and the files of a folder; and seeds, which are hashes of names."""

import codecs
import errno
import glob
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from headtypes.core.errors import InputError, one_line

StrPath = str | Path

# Errors that the user can fix: no space, no permission, a broken disk, a file system without locks or out of reach.
_REFUSALS = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.ENAMETOOLONG),
    *(errno.EAGAIN, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ESTALE, errno.EMFILE, errno.ENFILE),
    *(errno.ENOTCONN, errno.EHOSTDOWN, errno.ETIMEDOUT, errno.EBUSY, errno.ETXTBSY),
    524,  # ENOTSUPP, which Linux hands on from network file systems without locks, and Python does not name.
)


@contextmanager
def atomic_write(path: StrPath) -> Iterator[Path]:
    """Yield a temporary path, renamed to `path` if the `with` block succeeds; a full disk raises `InputError`."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        reach_disk(temporary)
        os.replace(temporary, path)
    except Exception as error:
        if isinstance(error, InputError) or (why := refusal(error)) is None:
            raise
        raise InputError(f"{path} cannot be written: {why}; fix this and run again.") from error
    finally:
        # It cannot be removed from a disk that has become read-only; `leftovers` finds it later.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def reach_disk(path: StrPath) -> None:
    """Flush a file, or every file directly in a folder, to disk, and wait until it is there (`os.fsync`)."""
    path = Path(path)
    for file in path.iterdir() if path.is_dir() else [path]:
        with open(file, "rb") as written:
            os.fsync(written.fileno())


def leftovers(path: StrPath) -> list[Path]:
    """Return the temporary files of `atomic_write` that killed processes left while they wrote `path`."""
    temporary = Path(path).parent.glob(f".{glob.escape(Path(path).name)}.[0-9]*.tmp")
    # A folder belongs to another path, whose name continues with a dot and a digit.
    return [file for file in temporary if file.is_file()]


def refusal(error: BaseException | None) -> str | None:
    """Return why the system refused a file, such as "No space left on device", or None if `error` has another cause."""
    while error is not None:
        for number in _REFUSALS:
            if getattr(error, "errno", None) == number or os.strerror(number) in str(error):
                return os.strerror(number)
        error = error.__cause__ or error.__context__
    return None


@contextmanager
def undamaged(path: StrPath, otherwise: str) -> Iterator[None]:
    """Turn any error but a `MemoryError` in the `with` block, which reads a result from `path`, into an `InputError`.

    otherwise: end of the message `PATH is damaged or OTHERWISE`, such as `is not a feature file`.
    """
    try:
        yield
    except (InputError, MemoryError):  # Where memory runs out, the file may be right.
        raise
    except FileNotFoundError as error:
        raise InputError(f"{path} is not there; let the workflow make it.") from error
    except Exception as error:  # Each library has errors of its own for files it cannot parse.
        if why := refusal(error):
            raise InputError(f"{path} cannot be read: {why}; fix this and run again.") from error
        raise InputError(f"{path} is damaged or {otherwise} ({one_line(error)}); delete it and run again.") from error


def text_of(path: StrPath) -> str:
    """Return the text of a user's file in UTF-8, with newline characters at line ends and without a byte-order mark."""
    content = Path(path).read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(content, path, content.count(b"\n", 0, error.start) + 1) from error


def _not_utf8(content: bytes, path: StrPath, line: int) -> InputError:
    # UTF-16, which has NULs too, begins with a mark.
    if b"\0" in content and not content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return InputError(f"{path} is packed, or no text; unpack it, or save it as text in UTF-8.")
    return InputError(f"{path}, line {line} is not UTF-8 text; save the file as UTF-8.")


def separator_of(header: str) -> str:
    return max(",;\t", key=header.count)


def check_header(names: Iterable[str], where: Any) -> None:
    """Raise `InputError` if two column names are equal and not empty; where: path of the table, for the message."""
    twice = next((name for name, number in Counter(names).items() if name and number > 1), None)
    if twice is not None:
        raise InputError(f"{where} has more than one column {twice}; rename or remove all but one of them.")


def canonical_json(data: Any) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def derive_seed(*parts: str | int) -> int:
    """Return a seed, 0 to 2**32 - 1, that depends on the parts alone and is the same on every machine.

    parts: purpose of the seed: the config's seed, the rule, the model and so on; 1 and "1" give different seeds.
    """
    digest = hashlib.sha256(canonical_json(parts).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def write_text(path: StrPath, text: str) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: StrPath, data: Any) -> None:
    write_text(path, json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: StrPath) -> Any:
    return _parsed(text_of(path), path)


def _parsed(text: str | bytes, path: StrPath, line: int | None = None) -> Any:
    where = path if line is None else f"{path}, line {line}"
    try:
        said = json.loads(text if isinstance(text, str) else text.decode("utf-8-sig"))
        # JSON may write half of a character, which no file can hold.
        json.dumps(said, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        at = f"line {error.lineno}, " if line is None else ""
        raise InputError(f"{where} is not valid JSON: {at}{error.msg}.") from error
    except UnicodeDecodeError as error:
        raise _not_utf8(error.object, path, line or 1) from error
    except (ValueError, RecursionError) as error:
        why = "brackets within too many others" if isinstance(error, RecursionError) else "a number of too many digits"
        if isinstance(error, UnicodeEncodeError):
            behind = error.object[: error.start].rpartition('"')[2]
            why = f"half of a character, {ascii(error.object[error.start])[1:-1]}, behind {behind[-20:]!r}"
        raise InputError(f"{where} holds {why}; correct it.") from error
    return said


def write_json_lines(path: StrPath, rows: Iterable[dict]) -> None:
    write_text(path, "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows))


def read_json_lines(path: StrPath) -> list[dict]:
    return [row for _, row in numbered_objects(path)]


def numbered_objects(path: StrPath) -> Iterator[tuple[int, dict]]:
    for number, line in numbered_rows(path):
        row = _parsed(line, path, number)
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number} is not a JSON object.")
        yield number, row


def read_each(read: Callable[[Any], Any], files: Mapping) -> dict:
    return {key: read(file) for key, file in files.items()}


def numbered_rows(path: StrPath) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, line) for each line that is not blank. Raises `InputError` if all lines are blank."""
    empty = True
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                empty = False
                yield number, line
    if empty:
        raise InputError(f"{path} has no rows; give data that have some, or delete it and run again.")


def sha256_file(path: StrPath) -> str:
    with open(path, "rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()


def sha256_path(path: StrPath) -> str:
    """Return the SHA-256, in hexadecimal, of a file's bytes, a YAML file's data, or a folder's file names and bytes."""
    path = Path(path)
    if path.suffix == ".yaml":  # Its data count alone.
        with open(path, "rb") as text, suppress(yaml.YAMLError):
            said = yaml.CSafeLoader(text).get_single_data()
            return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()
    if not path.is_dir():
        return sha256_file(path)
    # Snakemake puts a hidden file into every folder that a job makes.
    visible = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")]
    files = {file.relative_to(path).as_posix(): sha256_file(file) for file in visible}
    return hashlib.sha256(canonical_json(files).encode()).hexdigest()


def files_in(folder: str, key: str) -> list[str]:
    """Return the sorted paths of the files in a folder and its subfolders, without hidden files.

    key: the folder's key in the configuration, for the message of an `InputError`, which an empty folder, files of two
        suffixes, a broken link, and a path with braces raise.
    """
    paths = [
        path
        for path in Path(folder).rglob("*")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    for path in paths:
        if not path.exists():
            raise InputError(f"{key}: {path} is a link that leads nowhere; mend it or delete it.")
        if {"{", "}"} & {*str(path)}:
            raise InputError(f"{key}: {path} has braces, by which Snakemake names wildcards; rename it.")
    files = sorted(path for path in paths if path.is_file())
    if not files:
        raise InputError(f"{key}: the folder {folder} holds no files, or is not there.")
    suffixes = sorted({file.suffix.lower() or "none" for file in files})
    if len(suffixes) > 1:
        raise InputError(f"{key}: the files in {folder} must have one suffix; found {', '.join(suffixes)}.")
    return list(map(str, files))
