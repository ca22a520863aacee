"""Data sets of the Hub, read at one revision."""

from contextlib import suppress
from pathlib import Path

from datasets import Dataset, DatasetBuilder, config, load_dataset_builder
from huggingface_hub import HfApi, constants, hf_hub_download, snapshot_download
from huggingface_hub.errors import RemoteEntryNotFoundError

from headtypes.core.errors import InputError, told
from headtypes.models.hub.snapshots import check_contents, unavailable


def read_data_set(source: dict, key: str) -> tuple[Dataset, dict]:
    """Read a data set of the Hub, downloaded if it is not cached, and its origin: hub, name, split, resolved revision.

    source: hub, split and, if given in the configuration, name and revision; key: its key there, for messages.
    Raises `InputError` if it cannot be loaded.
    """
    hub, name, split = source["hub"], source.get("name"), source["split"]
    with told(unavailable(f"{key}.hub", hub, source.get("revision"))):
        commit = HfApi().resolve_revision(hub, repo_type="dataset", revision=source.get("revision")).resolved
        if not constants.is_offline_mode():
            _fetch_descriptions(hub, commit)
        builder = load_dataset_builder(hub, name, revision=commit)
        if builder.hash != commit:
            raise InputError(
                f"{key}.hub: {hub} is in the local cache only as of revision {builder.hash}, not {commit}, and cannot "
                "be had from the Hub now; connect and run again."
            )
        if files := _data_files(builder, hub, commit):
            folder = snapshot_download(hub, repo_type="dataset", revision=commit, allow_patterns=files)
            check_contents(f"{key}.hub: {hub}", Path(folder))
        builder.download_and_prepare()
        data = builder.as_dataset(split=split)
    return data, {"hub": hub, "name": name, "split": split, "revision": commit}


def _fetch_descriptions(hub: str, commit: str) -> None:
    for name in (constants.REPOCARD_NAME, config.REPOYAML_FILENAME, config.DATASETDICT_INFOS_FILENAME):
        with suppress(RemoteEntryNotFoundError):
            hf_hub_download(hub, name, repo_type="dataset", revision=commit)


def _data_files(builder: DatasetBuilder, hub: str, commit: str) -> list[str]:
    start = f"hf://datasets/{hub}@{commit}/"
    files = (str(file) for split in (builder.config.data_files or {}).values() for file in split)
    return sorted(file.removeprefix(start) for file in files if file.startswith(start))
