"""Disks that are full or cannot be written: real ones, in a mount namespace of this process, where that is allowed."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

# Bytes of a disk that becomes full.
_DISK = 4_000_000


@cache
def mounts_allowed() -> bool:
    """Whether file systems can be mounted here."""
    probe = 'mount -t tmpfs none "$0" && umount "$0"'
    with tempfile.TemporaryDirectory() as folder:
        try:
            command = ["unshare", "--mount", "sh", "-c", probe, folder]
            return subprocess.run(command, capture_output=True).returncode == 0
        except OSError:
            return False


def writing_can_be_forbidden() -> bool:
    """Whether a folder can be made read-only here: root may write anywhere but on a mounted disk."""
    return os.geteuid() != 0 or mounts_allowed()


@contextlib.contextmanager
def without_room(folder: Path) -> Iterator[None]:
    """A folder on a small disk, with what is in it, and no room for a byte more."""
    if not mounts_allowed():
        yield
        return
    kept = folder.with_name(f"{folder.name}-kept")
    folder.rename(kept)
    folder.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={_DISK}", "none", folder)
    try:
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        with contextlib.suppress(OSError), open(folder / "filler", "wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4096))
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextlib.contextmanager
def without_writing(folder: Path) -> Iterator[None]:
    """A folder in which nothing can be written."""
    if not mounts_allowed():
        for part in (folder, *filter(Path.is_dir, folder.rglob("*"))):
            part.chmod(0o555)
        yield
        for part in (folder, *filter(Path.is_dir, folder.rglob("*"))):
            part.chmod(0o755)
        return
    _mount("--bind", folder, folder)
    _mount("-o", "remount,bind,ro", folder)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _mount(*arguments: Any) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True)
