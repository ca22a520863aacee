from headtypes.workflow.job import job
from headtypes.base.table_files import write_csv
from headtypes.language.syntax.arc_files import read_arcs
from headtypes.probes.scores import measure_probes, read_probes
from headtypes.tasks.records import read_records
from headtypes.tasks.treebank.records import Sentence

with job(snakemake) as (inputs, spec, outputs, _):
    arcs = read_arcs(inputs.arcs)["file"]
    table = measure_probes(read_probes(inputs.probes), read_records(inputs.rows, Sentence), arcs, **spec)
    write_csv(outputs.scores, table)
