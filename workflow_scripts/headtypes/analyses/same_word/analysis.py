"""Attention to the same word, as an analysis: its results, and what of them is shown where."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from headtypes.analyses.declaration import Analysis, Column, not_texts, summaries
from headtypes.core.files import StrPath
from headtypes.core.stage import TEXT, Result

LABELS = {"other": "to the same word in the other text", "own": "to the same word elsewhere in its text"}


def per_head(task: str, path: StrPath) -> list[Column]:
    import numpy as np

    from headtypes.analyses.same_word.measure import SameWord
    from headtypes.core.hdf5_files import read_arrays

    found, columns = read_arrays(path, SameWord), []
    for place, label in LABELS.items():
        values = 100 * found.mean(place).ravel()
        if not np.isnan(values).all():
            note = f"Mean over words that have one, but the {len(found.frequent)} most frequent; even attention gives "
            note += f"{100 * found.mean_chance(place):.1f} %."
            columns.append(Column(f"same.{task}.{place}", label, f"Same word on {task}", values, "%", note=note))
    return columns


def per_set(task: str, path: StrPath, types: Any, seed: int) -> Iterator:
    import numpy as np

    from headtypes.analyses.same_word.measure import SameWord
    from headtypes.core.hdf5_files import read_arrays

    found = read_arrays(path, SameWord)
    for place in LABELS:
        if not np.isnan(values := found.mean(place)).all():
            yield from summaries("same_word", task, place, values)


WORDS = Result(
    "results/same_word/{model}/{task}.h5",
    "extract_features",
    "attention to the same word",
    of=not_texts,
    name="same_word",
    content="`shares` float32 [sample, layer, head, 2], what a word gives to the [same "
    "word](../understand/method.md#the-same-word-not-in-the-paper) in the other text and elsewhere in its "
    "own; `chance` [sample, 2], what even attention would; NaN where no word has one; `frequent`, the words "
    "that are left out",
    withheld=TEXT,
)
OF_TEXTS = replace(WORDS, rule="extract_text_features", of=lambda plan: plan.texts, content="")
SAME_WORD = Analysis(
    "same_word",
    "to the same word (mean of the heads)",
    section="Heads and types",
    files=(replace(WORDS, of=lambda plan: plan.features),),
    results=(WORDS, OF_TEXTS),
    per_head=per_head,
    per_set=per_set,
)
