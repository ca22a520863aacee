from snakemake_job import job
from headtypes.analyses.relations.accuracy import measure_relations
from headtypes.analyses.relations.guesses import read_arcs
from headtypes.analyses.relations.parts import read_parts
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, _):
    tables = measure_relations(read_parts(inputs.rows, inputs.test), read_arcs(inputs.arcs), **spec)
    write_csv(outputs.heads, tables.heads)
    write_csv(outputs.best, tables.best)
