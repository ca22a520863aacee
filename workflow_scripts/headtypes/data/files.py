"""The files of a folder of data."""

import os
from pathlib import Path

from headtypes.core.errors import InputError, shortened


def looked_in(path: str) -> str:
    """Return the end of a message such as "there is no file PATH": the folder from which a relative path counts.

    Returns "" for an absolute path.
    """
    if Path(path).is_absolute():
        return ""
    return (
        f" in {Path.cwd()}, from which relative paths count; give an absolute path, or, with --directory, the folder "
        "from which yours counts"
    )


def files_in(folder: str, key: str) -> list[str]:
    """Return the files in a folder and its subfolders, sorted by path, without hidden files.

    key: the folder's key in the configuration, for messages.
    Raises `InputError` if the folder does not exist, has no files, or has files with different suffixes. A broken link,
    and a path with braces, raise `InputError` too.
    """
    if not os.path.isdir(folder):
        raise InputError(f"{key}: there is no folder {shortened(folder)}{looked_in(folder)}.")
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
        raise InputError(f"{key}: the folder {folder} holds no files.")
    suffixes = sorted({file.suffix.lower() or "none" for file in files})
    if len(suffixes) > 1:
        raise InputError(f"{key}: the files in {folder} must have one suffix; found {', '.join(suffixes)}.")
    return list(map(str, files))
