from snakemake_job import job
from headtypes.analyses.relations.offsets import measure_offsets
from headtypes.core.table_files import write_csv
from headtypes.data.kinds.treebank import Sentence
from headtypes.data.records import read_records

with job(snakemake) as (inputs, spec, outputs, _):
    sentences = read_records(inputs.rows, Sentence)
    test = read_records(inputs.test, Sentence) if inputs.test else None
    write_csv(outputs.offsets, measure_offsets(sentences, test, **spec))
