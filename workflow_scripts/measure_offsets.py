from headtypes.workflow.job import job
from headtypes.base.table_files import write_csv
from headtypes.language.syntax.offsets import measure_offsets
from headtypes.tasks.records import read_records
from headtypes.tasks.treebank.records import Sentence

with job(snakemake) as (inputs, spec, outputs, _):
    sentences = read_records(inputs.rows, Sentence)
    test = read_records(inputs.test, Sentence) if inputs.test else None
    write_csv(outputs.offsets, measure_offsets(sentences, test, **spec))
