from headtypes.attention.map_files import write_maps
from headtypes.attention.maps import map_attention
from headtypes.base.files import read_json_lines
from headtypes.models.records import read_model_record
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, provenance):
    model = read_model_record(inputs.model)
    maps = map_attention(read_json_lines(inputs.samples), model, **spec)
    write_maps(outputs.maps, maps, provenance)
