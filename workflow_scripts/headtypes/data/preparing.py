"""A task's questions as the windows of one model: apart from what answers them, since no weights are loaded for it."""

from typing import Any

from headtypes.core.hdf5_files import write_arrays
from headtypes.data.tasks import KINDS, read_rows
from headtypes.models.fetching import load_tokenizer
from headtypes.models.records import read_model_record


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    model = read_model_record(inputs.model)
    rows, shape = read_rows(inputs.questions, spec["kind"]), {key: spec[key] for key in spec if key != "kind"}
    windows = KINDS[spec["kind"]].cut_windows(rows, load_tokenizer(model), model, **shape)
    write_arrays(outputs.windows, windows, provenance)
