from headtypes.workflow.job import job
from headtypes.language.coreference.antecedent_files import write_antecedents
from headtypes.language.coreference.antecedents import extract_antecedents
from headtypes.models.records import read_model_record
from headtypes.tasks.coreference.records import AnnotatedDocument
from headtypes.tasks.records import read_records

with job(snakemake) as (inputs, spec, outputs, provenance):
    documents = read_records(inputs.rows, AnnotatedDocument)
    guesses = extract_antecedents(documents, read_model_record(inputs.model), **spec)
    write_antecedents(outputs.antecedents, guesses, provenance)
