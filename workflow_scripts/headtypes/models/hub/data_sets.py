"""Data sets of the Hub, read at one revision."""

from contextlib import suppress
from pathlib import Path

from datasets import Dataset, DatasetBuilder, config, load_dataset_builder
from huggingface_hub import HfApi, constants, hf_hub_download, try_to_load_from_cache
from huggingface_hub.errors import RemoteEntryNotFoundError
from huggingface_hub.file_download import repo_folder_name

from headtypes.core.errors import InputError, one_line
from headtypes.models.hub.refusals import errors_in_words
from headtypes.models.hub.snapshots import check_contents


def read_data_set(source: dict, key: str) -> tuple[Dataset, dict]:
    """Load a data set of the Hub, downloading it if it is not in the cache.

    source: hub, split and, if given in the configuration, name and revision.
    key:    of the source in the configuration, for messages.
    returns the data set, and its origin: hub, name, split, and the revision as resolved.
    Raises `InputError` if it cannot be loaded.
    """
    hub, name, split = source["hub"], source.get("name"), source["split"]
    with errors_in_words(key, hub, source.get("revision"), "data set", "a local file instead"):
        commit = HfApi().resolve_revision(hub, repo_type="dataset", revision=source.get("revision")).resolved
        builder = _fetched(f"{key}.hub: {hub}", hub, name, commit)
        builder.download_and_prepare()
        data = _split(builder, split, f"{key}.split: {hub}")
    return data, {"hub": hub, "name": name, "split": split, "revision": commit}


def _fetched(where: str, hub: str, name: str | None, commit: str) -> DatasetBuilder:
    """What makes the data set, with the files that it reads in the cache, each as the Hub says it is."""
    snapshot = Path(constants.HF_HUB_CACHE, repo_folder_name(repo_id=hub, repo_type="dataset"), "snapshots", commit)
    try:
        if not constants.is_offline_mode():
            _fetch_descriptions(hub, commit)
            check_contents(where, snapshot)
        builder = _builder(where, hub, name, commit)
        if builder.hash != commit:
            raise InputError(
                f"{where} is in the local cache only as of revision {builder.hash}, not {commit}, and cannot be had "
                "from the Hub now; connect and run again."
            )
        for file in _data_files(builder, hub, commit):
            hf_hub_download(hub, file, repo_type="dataset", revision=commit)
    finally:
        check_contents(where, snapshot)
    return builder


def _fetch_descriptions(hub: str, commit: str) -> None:
    """Download what says which files a data set consists of, as far as it is there.

    `datasets` would ask for the same files, and take each for absent if the Hub does not answer.
    """
    for name in (constants.REPOCARD_NAME, config.REPOYAML_FILENAME, config.DATASETDICT_INFOS_FILENAME):
        # The cache also remembers what is not there.
        if try_to_load_from_cache(hub, name, repo_type="dataset", revision=commit) is None:
            with suppress(RemoteEntryNotFoundError):
                hf_hub_download(hub, name, repo_type="dataset", revision=commit)


def _builder(where: str, hub: str, name: str | None, commit: str) -> DatasetBuilder:
    try:
        return load_dataset_builder(hub, name, revision=commit)
    except ValueError as error:
        if "BuilderConfig" in str(error) or "Config name" in str(error):
            raise InputError(f"{where} has no configuration {name} ({one_line(error)}); name another.") from error
        raise


def _data_files(builder: DatasetBuilder, hub: str, commit: str) -> list[str]:
    """The paths in the repository of what the data set is read from; none where it has been read before."""
    start = f"hf://datasets/{hub}@{commit}/"
    files = (str(file) for split in (builder.config.data_files or {}).values() for file in split)
    return sorted(file.removeprefix(start) for file in files if file.startswith(start))


def _split(builder: DatasetBuilder, split: str, where: str) -> Dataset:
    try:
        return builder.as_dataset(split=split)
    except ValueError as error:
        raise InputError(f"{where} has no split {split} ({one_line(error)}); name another.") from error
