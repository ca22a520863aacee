"""Models of the Hub in the local cache, fetched at one commit."""

import re
from collections.abc import Iterable
from pathlib import Path

from huggingface_hub import snapshot_download

from headtypes.core.errors import InputError, told
from headtypes.core.files import sha256_file


def unavailable(key: str, repository: str, revision: str | None) -> str:
    """Begin the message about an error of the Hub or its cache; key: that of the source in the configuration."""
    return f"{key}: {repository}{f' ({revision})' if revision else ''} cannot be had from the Hub or the local cache"


def fetch_snapshot(
    key: str, repository: str, revision: str | None, patterns: Iterable[str], otherwise: Iterable[str] = ()
) -> Path:
    """Download the files of a model that match patterns and return their folder in the cache, named by the commit.

    key: that of the source in the configuration; otherwise: patterns to take if the first match no file of weights.
    Raises `InputError` if the files cannot be had.
    """
    with told(unavailable(key, repository, revision)):
        folder = Path(snapshot_download(repository, revision=revision, allow_patterns=list(patterns)))
        if otherwise and not any(folder.glob("*.safetensors")):
            # From the same commit, into the same folder.
            snapshot_download(repository, revision=folder.name, allow_patterns=list(otherwise))
        check_contents(f"{key}: {repository}", folder)
    return folder


def check_contents(where: str, folder: Path) -> None:
    """Compare each large file of a snapshot with the SHA-256 that the Hub gave, by which the cache names its content.

    The Hub's client compares lengths alone. A file that differs is removed, to be downloaded anew, and `InputError`
    raised; where: the repository.
    """
    for file in filter(Path.is_symlink, folder.rglob("*")):
        content = file.resolve()
        if re.fullmatch("[0-9a-f]{64}", content.name) and sha256_file(content) != content.name:
            content.unlink()
            file.unlink()
            raise InputError(
                f"{where}: {file.name} came damaged: its content is not what the Hub says; it is removed from the "
                "cache; run again."
            )
