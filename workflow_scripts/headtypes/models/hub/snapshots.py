"""Models of the Hub in the local cache, fetched at one commit."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import snapshot_download

from headtypes.core.errors import InputError, one_line
from headtypes.core.files import sha256_file


@contextmanager
def said_by_hub(key: str, repository: str, revision: str | None) -> Iterator[None]:
    """Say before any error in speaking with the Hub, or of its cache, which key of the configuration it is about."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # The Hub's client, the network and the cache raise many kinds.
        named = f"{repository} ({revision})" if revision else repository
        raise InputError(f"{key}: {named} cannot be had from the Hub or the local cache: {one_line(error)}.") from error


def fetch_snapshot(
    key: str, repository: str, revision: str | None, patterns: Iterable[str], otherwise: Iterable[str] = ()
) -> Path:
    """Download the files of a model that match patterns; what is in the cache is not downloaded again.

    key:       of the source in the configuration, for messages.
    otherwise: further patterns, if there are no files of weights among the first.
    returns    the folder in the cache, which is named by the commit.
    Raises `InputError` if the files cannot be had.
    """
    with said_by_hub(key, repository, revision):
        folder = Path(snapshot_download(repository, revision=revision, allow_patterns=list(patterns)))
        if otherwise and not any(folder.glob("*.safetensors")):
            # From the same commit, into the same folder.
            snapshot_download(repository, revision=folder.name, allow_patterns=list(otherwise))
        check_contents(f"{key}: {repository}", folder)
    return folder


def check_contents(where: str, folder: Path) -> None:
    """Compare each large file of a snapshot with the SHA-256 that the Hub gave, by which the cache names its content.

    The Hub's client compares lengths alone. A file that is another is removed, so that it is downloaded anew.
    where: the repository, for the message.
    Raises `InputError` if a file is not what the Hub says.
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
