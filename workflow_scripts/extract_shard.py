from headtypes.base.files import read_json_lines
from headtypes.features.extraction import extract_features
from headtypes.features.feature_files import write_features
from headtypes.models.records import read_model_record
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, provenance):
    features = extract_features(read_json_lines(inputs.samples), read_model_record(inputs.model), **spec)
    write_features(outputs.features, features, provenance)
