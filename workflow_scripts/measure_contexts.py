from headtypes.contexts import measure_contexts, write_contexts
from headtypes.files import read_json_lines
from headtypes.sources import read_model_record
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    contexts = measure_contexts(read_json_lines(inputs.samples), read_model_record(inputs.model), **spec)
    write_contexts(outputs.contexts, contexts, made)
