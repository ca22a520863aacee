from headtypes.base.files import write_json
from headtypes.language.probes.of_types import probe_types
from headtypes.models.records import read_model_record
from headtypes.tasks.records import read_records
from headtypes.tasks.treebank.records import Sentence
from headtypes.types.partitions import read_partition
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, provenance):
    training, scored = read_records(inputs.training, Sentence), read_records(inputs.rows, Sentence)
    partition = read_partition(inputs.partition)
    probes = probe_types(training, scored, read_model_record(inputs.model), partition, **spec)
    write_json(outputs.probes, {**probes, "provenance": provenance})
