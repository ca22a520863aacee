from headtypes.attention_maps import map_attention
from headtypes.files import read_json_lines
from headtypes.map_storage import write_maps
from headtypes.sources import read_model_record
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    model = read_model_record(inputs.model)
    maps = map_attention(read_json_lines(inputs.samples), model, **spec)
    write_maps(outputs.maps, maps, made)
