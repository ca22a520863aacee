from headtypes.extraction import write_task_features
from headtypes.files import read_json_lines
from headtypes.sources import read_model_record
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    samples, model = read_json_lines(inputs.samples), read_model_record(inputs.model)
    write_task_features(outputs.features, samples, model, inputs.parts, made, **spec)
