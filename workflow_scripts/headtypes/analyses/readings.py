"""The rule `extract_text_features`: all analyses that read a model's attention on texts, most of them in one pass."""

from typing import Any

from headtypes.analyses.distances.measure import extract_features
from headtypes.analyses.divergence.measure import measure_divergence
from headtypes.analyses.maps import LEGIBLE_TOKENS, map_examples, map_samples
from headtypes.analyses.outputs.measure import measure_outputs
from headtypes.analyses.same_word.measure import measure_same_word
from headtypes.analyses.surface.measure import measure_surface
from headtypes.attention.one_pass import ModelOnTask, read_samples
from headtypes.core.hdf5_files import write_arrays
from headtypes.core.progress import warn
from headtypes.data.tasks import Sample, read_records
from headtypes.models.records import read_model_record


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    samples, how = read_records(inputs.samples, Sample), {"kind": spec.pop("kind"), "norms": spec.pop("norms", False)}
    run = ModelOnTask(read_model_record(inputs.model), **spec)
    measurements = [extract_features, measure_surface, measure_same_word, measure_outputs]
    features, surface, same_word, written = read_samples(run, samples, measurements=measurements, **how)
    write_arrays(outputs.features, features, provenance)
    write_arrays(outputs.surface, surface, provenance)
    write_arrays(outputs.same_word, same_word, provenance)
    warn(provenance, written.warnings)
    write_arrays(outputs.outputs, written, provenance)
    write_arrays(outputs.divergence, measure_divergence(run, samples, **how), provenance)
    (shown,) = map_samples(run, samples, **how, tokens=LEGIBLE_TOKENS, count=1)
    write_arrays(outputs.maps, shown, provenance)
    write_arrays(outputs.sample_maps, map_samples(run, samples, **how), provenance)
    write_arrays(outputs.examples, map_examples(run, samples, surface, kind=how["kind"]), provenance)
