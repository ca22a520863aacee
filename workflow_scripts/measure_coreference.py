from headtypes.workflow.job import job
from headtypes.base.table_files import write_csv
from headtypes.language.coreference.accuracy import measure_coreference
from headtypes.language.coreference.antecedent_files import read_antecedents
from headtypes.tasks.coreference.records import AnnotatedDocument
from headtypes.tasks.records import read_records

with job(snakemake) as (inputs, spec, outputs, _):
    documents = read_records(inputs.rows, AnnotatedDocument)
    write_csv(outputs.accuracy, measure_coreference(documents, read_antecedents(inputs.antecedents), **spec))
