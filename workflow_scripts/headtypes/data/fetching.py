"""Fetching a task's data, from a file, a folder or the Hub, as rows of the task's kind."""

import csv
import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
from datasets import Dataset, config, load_dataset_builder
from huggingface_hub import HfApi, constants, hf_hub_download, snapshot_download
from huggingface_hub.errors import RemoteEntryNotFoundError

from headtypes.core.errors import InputError, one_line, told
from headtypes.core.files import canonical_json, files_in, read_json, read_json_lines, sha256_file, write_json
from headtypes.core.table_files import read_as_text
from headtypes.data.tasks import KINDS, write_records
from headtypes.models.records import check_contents, unavailable


def fetch_task(task: str, kind: str, source: dict, columns: dict | None) -> tuple[list, dict]:
    """Return the rows of a task's data, and a record of where the data come from; data of the Hub are downloaded.

    source: place of the data, as in the configuration: hub, name, revision and split; or file alone; or folder alone.
    columns: {field of a row: column of a table}; None for data that are no table. For pairs it may also have "labels":
        {label in the table: label in the row, or None to leave the row out}.
    The record has the keys task, rows (number of rows) and revision. For the Hub it also has hub, name and split; for
    others, sha256, and file or folder. If some data became no row, it has left_out: {reason: number of entries}.
    """
    chosen, key = KINDS[kind], f"tasks.{task}"
    if "hub" in source:
        where, rows_of = source["hub"], chosen.rows_of_hub
        data, origin = _read_data_set(source, f"{key}.source")
    elif "folder" in source:
        where, rows_of = source["folder"], chosen.rows_of_file
        data = files_in(where, f"{key}.source.folder")
        digests = {Path(file).relative_to(where).as_posix(): sha256_file(file) for file in data}
        sha256 = hashlib.sha256(canonical_json(digests).encode()).hexdigest()
        origin = {"folder": where, "sha256": sha256, "revision": None}
    else:
        where, rows_of = source["file"], chosen.rows_of_file
        data, origin = read_file(where, chosen.form)
    rows = rows_of(data, where, f"{key}.columns", columns)
    _check_ids(rows, where)
    left_out = getattr(rows, "left_out", {})
    for what, count in left_out.items():
        print(f"{task}: {count} {what} left out, {len(rows)} rows read")
    return rows, {"task": task, **origin, "rows": len(rows), **({"left_out": left_out} if left_out else {})}


def _read_data_set(source: dict, key: str) -> tuple[Dataset, dict]:
    hub, name, split = source["hub"], source.get("name"), source["split"]
    with told(unavailable(f"{key}.hub", hub, source.get("revision"))):
        commit = HfApi().resolve_revision(hub, repo_type="dataset", revision=source.get("revision")).resolved
        if not constants.is_offline_mode():
            for about in (constants.REPOCARD_NAME, config.REPOYAML_FILENAME, config.DATASETDICT_INFOS_FILENAME):
                with suppress(RemoteEntryNotFoundError):
                    hf_hub_download(hub, about, repo_type="dataset", revision=commit)
        builder = load_dataset_builder(hub, name, revision=commit)
        if builder.hash != commit:
            raise InputError(
                f"{key}.hub: {hub} is in the local cache only as of revision {builder.hash}, not {commit}, and cannot "
                "be had from the Hub now; connect and run again."
            )
        start = f"hf://datasets/{hub}@{commit}/"
        named = (str(file) for part in (builder.config.data_files or {}).values() for file in part)
        if files := sorted(file.removeprefix(start) for file in named if file.startswith(start)):
            folder = snapshot_download(hub, repo_type="dataset", revision=commit, allow_patterns=files)
            check_contents(f"{key}.hub: {hub}", Path(folder))
        builder.download_and_prepare()
        data = builder.as_dataset(split=split)
    return data, {"hub": hub, "name": name, "split": split, "revision": commit}


_READERS: dict[str, dict[str, Callable[[str], Any]]] = {
    "json": {".jsonl": read_json_lines, ".parquet": lambda path: pq.read_table(path).to_pylist()},
    "table": {
        # Quotes are part of the sentences in the GLUE files, which are separated by tabs alone.
        ".tsv": lambda path: read_as_text(path, sep="\t", quoting=csv.QUOTE_NONE),
        ".csv": read_as_text,
        ".jsonl": lambda path: pd.DataFrame(read_json_lines(path), dtype=object),
        ".parquet": pd.read_parquet,
    },
}


def read_file(path: str, form: str) -> tuple[Any, dict]:
    origin = {"file": path, "sha256": sha256_file(path), "revision": None}
    if form == "files":
        return [path], origin
    suffix, readers = Path(path).suffix.lower(), _READERS[form]
    if form == "table" and suffix not in readers:
        raise InputError(f"{path}: a table must be one of {', '.join(readers)}; found {suffix or 'no suffix'}.")
    try:
        return readers.get(suffix, read_json)(path), origin
    except (ValueError, TypeError, AttributeError, OSError, pd.errors.ParserWarning) as error:
        raise InputError(f"{path} cannot be read as {suffix[1:]} ({one_line(error)}).") from error


def _check_ids(rows: list, where: str) -> None:
    seen: dict[str, int] = {}
    for number, row in enumerate(rows, start=1):
        if (other := seen.setdefault(row.id, number)) != number:
            raise InputError(f"{where}: row {number} has the id {row.id!r} of row {other}; make the ids unique.")
        # HDF5 cuts a text off there.
        if "\0" in row.id:
            raise InputError(f"{where}: the id of row {number} holds a NUL character; take it out.")


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    rows, record = fetch_task(**spec)
    write_records(outputs.rows, rows)
    write_json(outputs.record, record)
