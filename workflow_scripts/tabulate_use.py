from headtypes.planning.job import job
from headtypes.analyses.relations.guesses import read_arcs
from headtypes.analyses.relations.parts import read_parts
from headtypes.analyses.use.found import find_heads
from headtypes.analyses.use.results import read_losses, use_table
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, _):
    parts, arcs = read_parts(inputs.rows, inputs.test), read_arcs(inputs.arcs)
    found = list(find_heads(parts, arcs, **spec.pop("listed")))
    write_csv(outputs.table, use_table(found, read_losses(inputs.losses), **spec))
