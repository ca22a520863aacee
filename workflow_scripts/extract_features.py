from headtypes.planning.job import job
from headtypes.analyses.distances.measure import write_task_features
from headtypes.data.records import Sample, read_records
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    samples, model = read_records(inputs.samples, Sample), read_model_record(inputs.model)
    write_task_features(outputs.features, samples, model, inputs.get("parts", []), provenance, **spec)
