from script_job import job
from headtypes.analyses.distances.measure import extract_features
from headtypes.analyses.maps.measure import map_attention, map_samples
from headtypes.attention.run import ModelOnTask
from headtypes.core.hdf5_files import write_arrays
from headtypes.data.records import Sample, read_records
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    samples, how = read_records(inputs.samples, Sample), {"kind": spec.pop("kind"), "norms": spec.pop("norms", False)}
    run = ModelOnTask(read_model_record(inputs.model), **spec)
    write_arrays(outputs.features, extract_features(run, samples, **how), provenance)
    write_arrays(outputs.maps, map_attention(run, samples, **how), provenance)
    write_arrays(outputs.samples, map_samples(run, samples, **how), provenance)
