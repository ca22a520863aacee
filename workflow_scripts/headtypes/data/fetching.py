"""Fetching a task's data, from wherever they are, as rows of the task's kind."""

from headtypes.core.texts import check_rows
from headtypes.data.kinds.registry import KINDS
from headtypes.data.sources import find_files, read_file
from headtypes.data.world.tasks import make
from headtypes.models.hub.data_sets import read_data_set


def fetch_task(task: str, kind: str, source: dict, columns: dict | None) -> tuple[list, dict]:
    """Read a task's data, downloading them where they come from the Hub.

    kind:    one of `kinds.KINDS`.
    source:  as in the configuration: hub with name, revision and split; or file; or folder; or world with seed, split
        and size.
    columns: names of columns, for a kind that needs them (`protocol.Kind.of_file`).
    returns  the rows, of the kind's class; and where they come from: task, source, revision as resolved, number of
        rows.
    Raises `InputError` if the data cannot be read or do not have the form that the kind requires.
    """
    chosen, key = KINDS[kind], f"tasks.{task}"
    if "world" in source:
        rows, origin = chosen.of_world(make(**source), source["world"], source["split"]), {**source, "revision": None}
    elif "hub" in source:
        data, origin = read_data_set(source, f"{key}.source")
        rows = chosen.of_hub(data, source["hub"], f"{key}.columns", columns)
    elif "folder" in source:
        data, origin = find_files(source["folder"], f"{key}.source.folder")
        rows = chosen.of_file(data, source["folder"], f"{key}.columns", columns)
    else:
        data, origin = read_file(source["file"], chosen.form, f"{key}.source.file")
        rows = chosen.of_file(data, source["file"], f"{key}.columns", columns)
    check_rows(rows, origin.get("file") or origin.get("folder") or origin.get("hub") or key)
    return rows, {"task": task, **origin, "rows": len(rows)}
