from headtypes.workflow.job import job
from headtypes.attention.map_files import write_maps
from headtypes.attention.maps import map_attention
from headtypes.models.records import read_model_record
from headtypes.tasks.records import Sample, read_records

with job(snakemake) as (inputs, spec, outputs, provenance):
    model = read_model_record(inputs.model)
    maps = map_attention(read_records(inputs.samples, Sample), model, **spec)
    write_maps(outputs.maps, maps, provenance)
