from headtypes.base.files import write_json
from headtypes.language.probes.training import train_probes
from headtypes.language.syntax.arc_files import read_arcs
from headtypes.models.records import read_model_record
from headtypes.tasks.records import read_records
from headtypes.tasks.treebank.records import Sentence
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, provenance):
    training, scored = read_records(inputs.training, Sentence), read_records(inputs.rows, Sentence)
    arcs, record = read_arcs(inputs.arcs)["file"], read_model_record(inputs.model)
    vectors = inputs.vectors[0] if inputs.vectors else None
    probes = train_probes(training, scored, arcs, record, vectors=vectors, **spec)
    write_json(outputs.probes, {**probes, "provenance": provenance})
