from headtypes.planning.job import job
from headtypes.analyses.detectors.needles import read_texts
from headtypes.analyses.reach.full_attention import write_full_attention
from headtypes.analyses.reach.key_values import RULE, measure_key_values
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    sizes = {name: spec.pop(name) for name in ("sink_size", "recent_size")}
    heads = measure_key_values(read_model_record(inputs.model), documents=read_texts(inputs.planted), **spec)
    about = {**sizes, "rule": RULE, "samples": spec["texts"], "provenance": provenance}
    write_full_attention(outputs.pattern, outputs.sizes, outputs.table, heads, about)
