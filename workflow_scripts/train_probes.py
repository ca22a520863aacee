from snakemake_job import job
from headtypes.analyses.probes.measure import train_probes
from headtypes.core.files import write_json
from headtypes.data.kinds.treebank import Sentence
from headtypes.data.records import read_records
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    training, scored = read_records(inputs.training, Sentence), read_records(inputs.rows, Sentence)
    vectors = inputs.vectors[0] if inputs.vectors else None
    probes = train_probes(training, scored, read_model_record(inputs.model), vectors=vectors, **spec)
    write_json(outputs.probes, {**probes, "provenance": provenance})
