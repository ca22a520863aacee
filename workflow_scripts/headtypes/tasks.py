"""The data of a task: read once from the Hub or a file into rows of one form, then drawn from."""

from pathlib import Path

import numpy as np
import pandas as pd
from datasets import load_dataset
from huggingface_hub import HfApi

from headtypes.config_errors import nearest
from headtypes.errors import InputError
from headtypes.files import sha256_file
from headtypes.squad import questions_from_rows, read_squad

_READERS = {
    # Quotes are part of the sentences in the GLUE files, which are separated by tabs alone.
    ".tsv": lambda path: pd.read_csv(path, sep="\t", quoting=3, dtype=str, keep_default_na=False),
    ".csv": lambda path: pd.read_csv(path, dtype=str, keep_default_na=False),
    ".jsonl": lambda path: pd.read_json(path, lines=True, dtype=False),
    ".parquet": pd.read_parquet,
}


def fetch_task(task: str, kind: str, source: dict, columns: dict | None) -> tuple[list[dict], dict]:
    """Read a task's data, downloading them where they come from the Hub.

    kind:    question_answering, or sentence_pair with `columns` (first, second and perhaps label and id).
    source:  as in the configuration: hub with name, revision and split, or file.
    returns  the rows and a record of where they come from: task, source, revision as resolved, rows.
        Question answering: id, article, question, context, answers. Sentence pairs: id, first, second, label.
    Raises `InputError` when the data cannot be had or are not in the form that the kind asks for.
    """
    if "hub" in source:
        table, origin = _from_hub(task, source)
        where = source["hub"]
    else:
        where, table = source["file"], None
        origin = {"file": where, "sha256": sha256_file(where), "revision": None}
    if kind == "question_answering":
        rows = read_squad(where) if table is None else questions_from_rows(table, where)
    else:
        frame = _read_table(where) if table is None else table.to_pandas()
        rows = _pairs(frame, columns, where, f"tasks.{task}.columns")
    return rows, {"task": task, **origin, "rows": len(rows)}


def draw_samples(rows: list[dict], *, kind: str, samples: int, seed: int) -> list[dict]:
    """Draw inputs for the distance features, without replacement, in the order of the data.

    returns id, first, second: question and context, or the two sentences. All rows where there are fewer.
    """
    first, second = ("question", "context") if kind == "question_answering" else ("first", "second")
    return [
        {"id": rows[index]["id"], "first": rows[index][first], "second": rows[index][second]}
        for index in _draw(len(rows), samples, seed)
    ]


def draw_questions(rows: list[dict], *, questions: int | str, seed: int | None) -> list[dict]:
    """Draw questions for evaluation, without replacement, in the order of the data; or take all."""
    return rows if questions == "all" else [rows[index] for index in _draw(len(rows), questions, seed)]


def _draw(rows: int, wanted: int, seed: int) -> np.ndarray:
    return np.sort(np.random.default_rng(seed).permutation(rows)[:wanted])


def _from_hub(task: str, source: dict):
    hub, name, revision = source["hub"], source.get("name"), source.get("revision")
    try:
        if revision is None:
            revision = HfApi().dataset_info(hub).sha
        data = load_dataset(hub, name, revision=revision, split=source["split"])
    except Exception as error:
        raise InputError(
            f"tasks.{task}.source: {hub} ({', '.join(filter(None, (name, revision, source['split'])))}) cannot be "
            f"loaded: {str(error).strip().partition(chr(10))[0]} Connect to the Hub once, check name, revision and "
            "split, or give a local file."
        ) from error
    return data, {"hub": hub, "name": name, "split": source["split"], "revision": revision}


def _read_table(path: str) -> pd.DataFrame:
    suffix = Path(path).suffix.lower()
    if suffix not in _READERS:
        raise InputError(f"{path}: sentence pairs are read from {', '.join(_READERS)}; found {suffix or 'no suffix'}.")
    try:
        return _READERS[suffix](path)
    except (ValueError, OSError, pd.errors.ParserError) as error:
        raise InputError(f"{path} cannot be read as {suffix[1:]} ({error}).") from error


def _pairs(frame: pd.DataFrame, columns: dict, where: str, key: str) -> list[dict]:
    for column in columns.values():
        if column not in frame:
            raise InputError(
                f"{key}: {where} has no column {column}.{nearest(column, frame.columns)} It has "
                f"{', '.join(map(str, frame.columns))}."
            )
    frame = frame.reset_index(drop=True)
    empty = [row for row, pair in enumerate(zip(frame[columns["first"]], frame[columns["second"]], strict=True))
             if not all(isinstance(text, str) and text.strip() for text in pair)]
    if empty:
        raise InputError(f"{where}: row {empty[0] + 1} has no text in {columns['first']} or {columns['second']}.")
    if frame.empty:
        raise InputError(f"{where} has no rows.")
    ids = frame[columns["id"]].astype(str) if "id" in columns else frame.index.astype(str)
    if not pd.Index(ids).is_unique:
        raise InputError(f"{key}.id: the column {columns['id']} of {where} does not hold every id once.")
    labels = frame[columns["label"]] if "label" in columns else [None] * len(frame)
    return [
        {"id": id_, "first": first, "second": second, "label": getattr(label, "item", lambda label=label: label)()}
        for id_, first, second, label in zip(
            ids, frame[columns["first"]], frame[columns["second"]], labels, strict=True
        )
    ]
