"""Files of the Hub in the local cache: fetched at one commit, and compared with what the Hub says they are."""

import hashlib
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from huggingface_hub import snapshot_download

from headtypes.core.errors import InputError
from headtypes.core.files import sha256_file
from headtypes.models.hub.refusals import errors_in_words


def fetch_snapshot(
    key: str, repository: str, revision: str | None, patterns: Iterable[str], otherwise: Iterable[str] = ()
) -> Path:
    """Download the files of a model that match patterns; what is in the cache is not downloaded again.

    key:       of the source in the configuration, for messages.
    otherwise: further patterns, if there are no files of weights among the first.
    returns    the folder in the cache, which is named by the commit.
    Raises `InputError` if the files cannot be had, or are not what the Hub says.
    """
    with errors_in_words(key, repository, revision, "model", "a local folder instead"):
        folder = Path(snapshot_download(repository, revision=revision, allow_patterns=list(patterns)))
        if folder.parent.name != "snapshots":
            # Without the Hub, what a file in the cache calls the commit is taken for the name of a folder.
            raise InputError(
                f"{key}.hub: {repository}: the local cache is damaged, since its refs lead to {folder}; delete this "
                "repository from the cache and run again."
            )
        if otherwise and not any(folder.glob("*.safetensors")):
            # From the same commit, into the same folder.
            snapshot_download(repository, revision=folder.name, allow_patterns=list(otherwise))
        check_contents(f"{key}.hub: {repository}", folder)
    return folder


def check_contents(where: str, folder: Path) -> None:
    """Compare each file of a snapshot with the digest that the Hub gave with it, by which the cache names its content.

    The Hub's client compares lengths alone. A file that is another is removed, so that it is downloaded anew, but none
    outside of the cache. Where the cache does not name contents (without symbolic links, or by a mirror's other names),
    nothing is compared.
    where: the repository, for the message.
    Raises `InputError` if a file is not what the Hub says.
    """
    cache = folder.parents[2].resolve()
    for file in sorted(path for path in folder.rglob("*") if path.is_symlink() and path.is_file()):
        name = os.path.basename(os.readlink(file))
        if name in _digests(file, name):
            continue
        for path in (file.resolve(), file.parent / os.readlink(file), file):
            # A link may lead anywhere.
            if path.parent.resolve().is_relative_to(cache):
                with suppress(OSError):
                    path.unlink()
        removed = f"delete {file} and run again" if os.path.lexists(file) else "it is removed from the cache; run again"
        raise InputError(f"{where}: {file.name} came damaged: its content is not what the Hub says; {removed}.")


def _digests(file: Path, name: str) -> set[str]:
    """The names of a file's content, of the kind that a given one has; that one itself where the kind is not known."""
    if re.fullmatch("[0-9a-f]{64}", name):
        return {sha256_file(file)}
    if re.fullmatch("[0-9a-f]{40}", name):
        content = file.read_bytes()
        # As git names it; some mirrors take the SHA-1 of the content alone.
        return {hashlib.sha1(start + content).hexdigest() for start in (f"blob {len(content)}\0".encode(), b"")}
    return {name}
