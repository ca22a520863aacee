"""Random samples of a task's rows: inputs for the features, and questions for evaluation."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headtypes.core.files import read_json_lines, write_json_lines
from headtypes.data.kinds.registry import KINDS, read_rows
from headtypes.data.records import Sample, write_records


def sample_inputs(rows: Sequence, *, kind: str, samples: int, seed: int) -> list[Sample]:
    """Draw inputs for the features without replacement, in the order of the data; all where there are fewer."""
    return KINDS[kind].draw_samples(rows, lambda inputs: _draw(inputs, samples, seed))


def sample_questions(rows: list, *, questions: int | str, seed: int | None) -> list:
    """Draw questions, or pairs, for evaluation without replacement, and keep their order; or take "all"."""
    return rows if questions == "all" else [rows[index] for index in _draw(len(rows), questions, seed)]


def _draw(inputs: int, wanted: int, seed: int) -> np.ndarray:
    return np.sort(np.random.default_rng(seed).permutation(inputs)[:wanted])


def run_inputs(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    write_records(outputs.samples, sample_inputs(read_rows(inputs.rows, spec["kind"]), **spec))


def run_questions(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    write_json_lines(outputs.questions, sample_questions(read_json_lines(inputs.rows), **spec))
