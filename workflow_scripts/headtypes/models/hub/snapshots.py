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
    """Turn any error of the Hub, or of its cache, into one that says which key of the configuration it is about."""
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
    """The folder in the cache, named by the commit, of a model's files that match patterns, downloaded if needed.

    key: of the source in the configuration; otherwise: further patterns, without files of weights among the first.
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

    The Hub's client compares lengths alone. A file that is another is removed, to be downloaded anew, and `InputError`
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
