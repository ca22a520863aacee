from snakemake_job import job
from headtypes.analyses.coreference.guesses import write_antecedents
from headtypes.analyses.coreference.measure import extract_antecedents
from headtypes.data.kinds.coreference.records import AnnotatedDocument
from headtypes.data.records import read_records
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    documents = read_records(inputs.rows, AnnotatedDocument)
    guesses = extract_antecedents(documents, read_model_record(inputs.model), **spec)
    write_antecedents(outputs.antecedents, guesses, provenance)
