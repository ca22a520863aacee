from headtypes.workflow.job import job
from headtypes.export.full_attention import full_attention_heads, write_full_attention
from headtypes.export.reach_files import read_reach

with job(snakemake) as (inputs, spec, outputs, provenance):
    reach = read_reach(inputs.reach)
    heads = full_attention_heads(reach, **spec)
    write_full_attention(outputs.pattern, outputs.sizes, outputs.table, heads, reach, provenance)
