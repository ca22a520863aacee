from headtypes.planning.job import job
from headtypes.analyses.outputs.results import read_outputs
from headtypes.analyses.outputs.tables import heads_table, layers_table
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, _):
    written = read_outputs(inputs.outputs)
    write_csv(outputs.heads, heads_table(written, **spec))
    write_csv(outputs.layers, layers_table(written))
