"""Disks of their own for tests, where file systems can be mounted (Linux, root)."""

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path


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


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[None]:
    """An empty folder as a disk of so many megabytes."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}M", "none", folder], check=True)
    try:
        yield
    finally:
        # What has been killed a moment ago may still hold a file.
        subprocess.run(["umount", "--lazy", folder], check=True)
