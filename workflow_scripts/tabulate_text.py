from headtypes.planning.job import job
from headtypes.analyses.divergence.projection import project_heads
from headtypes.analyses.divergence.results import read_divergence
from headtypes.analyses.outputs.results import read_outputs
from headtypes.analyses.outputs.tables import heads_table, layers_table
from headtypes.core.files import write_json
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, provenance):
    projection, fit = project_heads(read_divergence(inputs.divergence), **spec["projection"])
    write_csv(outputs.projection, projection)
    write_json(outputs.fit, {**fit, "provenance": provenance})
    written = read_outputs(inputs.outputs)
    write_csv(outputs.heads, heads_table(written, **spec["outputs"]))
    write_csv(outputs.layers, layers_table(written))
