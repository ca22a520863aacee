from headtypes.extraction import extract_features
from headtypes.files import read_json_lines
from headtypes.sources import read_model_record
from headtypes.storage import write_features
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    features = extract_features(read_json_lines(inputs.samples), read_model_record(inputs.model), **spec)
    write_features(outputs.features, features, made)
