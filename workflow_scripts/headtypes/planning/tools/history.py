"""What a run leaves for later ones to compare with: its configuration (and its code, by `planning.code.running`).

For its own jobs, it also leaves the numbers of shards that it has planned.
"""

from collections.abc import Mapping
from pathlib import Path

from headtypes.core.files import reach_disk, read_json, write_json
from headtypes.planning.config.schema import Config
from headtypes.planning.provenance import folder_of_records


def remember_config(config: Config, results: Path) -> None:
    """Write the configuration of a run that succeeded, so that a later change can be traced to single values.

    results: the folder of results.
    """
    write_json(_config_file(results), given(config))
    # Nothing else is written after it that would take its name to the disk.
    reach_disk(_config_file(results))


def remembered_config(results: Path) -> object:
    """What `remember_config` wrote, None where there is nothing; raises `InputError` where it is damaged."""
    file = _config_file(results)
    return read_json(file) if file.is_file() else None


def given(config: Config) -> dict:
    """The keys that the user gave: a config with all defaults written out may not be valid."""
    return config.model_dump(mode="json", exclude_unset=True)


def remember_shards(results: Path, numbers: Mapping[str, int]) -> None:
    """Write numbers of shards, by the paths of results, for the processes of jobs; results: the folder of results."""
    if numbers:
        write_json(_shards_file(results), numbers)
    else:
        _shards_file(results).unlink(missing_ok=True)


def remembered_shards(results: Path) -> dict[str, int]:
    """What `remember_shards` wrote last; raises `InputError` where it is damaged."""
    file = _shards_file(results)
    return read_json(file) if file.is_file() else {}


def _shards_file(results: Path) -> Path:
    return folder_of_records(results) / "shards.json"


def _config_file(results: Path) -> Path:
    return folder_of_records(results) / "config.json"
