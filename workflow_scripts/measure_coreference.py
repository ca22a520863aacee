from snakemake_job import job
from headtypes.analyses.coreference.accuracy import measure_coreference
from headtypes.analyses.coreference.guesses import read_antecedents
from headtypes.core.table_files import write_csv
from headtypes.data.kinds.coreference.records import AnnotatedDocument
from headtypes.data.records import read_records

with job(snakemake) as (inputs, spec, outputs, _):
    documents = read_records(inputs.rows, AnnotatedDocument)
    write_csv(outputs.accuracy, measure_coreference(documents, read_antecedents(inputs.antecedents), **spec))
