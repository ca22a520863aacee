from headtypes.planning.job import job
from headtypes.analyses.probes.of_types import train_type_probes
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.files import write_json
from headtypes.data.kinds.treebank import Sentence
from headtypes.data.records import read_records
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    training, scored = read_records(inputs.training, Sentence), read_records(inputs.rows, Sentence)
    partition = read_partition(inputs.partition)
    probes = train_type_probes(training, scored, read_model_record(inputs.model), partition, **spec)
    write_json(outputs.probes, {**probes, "provenance": provenance})
