from snakemake_job import job
from headtypes.analyses.probes.scores import measure_probes, read_probes
from headtypes.analyses.relations.guesses import read_arcs
from headtypes.core.table_files import write_csv
from headtypes.data.kinds.treebank import Sentence
from headtypes.data.records import read_records

with job(snakemake) as (inputs, spec, outputs, _):
    arcs = read_arcs(inputs.arcs)["file"]
    table = measure_probes(read_probes(inputs.probes), read_records(inputs.rows, Sentence), arcs, **spec)
    write_csv(outputs.scores, table)
