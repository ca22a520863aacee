from headtypes.workflow.job import job
from headtypes.features.extraction import extract_features
from headtypes.features.feature_files import write_features
from headtypes.models.records import read_model_record
from headtypes.tasks.records import Sample, read_records

with job(snakemake) as (inputs, spec, outputs, provenance):
    features = extract_features(read_records(inputs.samples, Sample), read_model_record(inputs.model), **spec)
    write_features(outputs.features, features, provenance)
