from headtypes.planning.job import job
from headtypes.analyses.reach.full_attention import full_attention_heads, write_full_attention
from headtypes.analyses.reach.results import read_reach

with job(snakemake) as (inputs, spec, outputs, provenance):
    reach = read_reach(inputs.reach)
    heads = full_attention_heads(reach, **spec)
    write_full_attention(outputs.pattern, outputs.sizes, outputs.table, heads, reach, provenance)
