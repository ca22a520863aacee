from headtypes.planning.job import job
from headtypes.analyses.distances.measure import extract_features
from headtypes.analyses.distances.results import write_features
from headtypes.data.records import Sample, read_records
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    features = extract_features(read_records(inputs.samples, Sample), read_model_record(inputs.model), **spec)
    write_features(outputs.features, features, provenance)
