from headtypes.workflow.job import job
from headtypes.base.table_files import write_csv
from headtypes.language.syntax.arc_files import read_arcs
from headtypes.language.syntax.parts import read_parts
from headtypes.language.syntax.relations import measure_relations

with job(snakemake) as (inputs, spec, outputs, _):
    tables = measure_relations(read_parts(inputs.rows, inputs.test), read_arcs(inputs.arcs), **spec)
    write_csv(outputs.heads, tables.heads)
    write_csv(outputs.best, tables.best)
