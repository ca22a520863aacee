from headtypes.planning.job import job
from headtypes.analyses.reach.full_attention import RULE, full_attention_heads, write_full_attention
from headtypes.analyses.reach.results import read_reach

with job(snakemake) as (inputs, spec, outputs, provenance):
    reach = read_reach(inputs.reach)
    heads = full_attention_heads(reach, **spec)
    sizes = {"sink_size": reach.sink_size, "recent_size": reach.recent_size}
    about = {**sizes, "rule": RULE, "samples": len(reach.share), "provenance": provenance}
    write_full_attention(outputs.pattern, outputs.sizes, outputs.table, heads, about)
