from headtypes.workflow.job import job
from headtypes.features.surface import measure_surface
from headtypes.features.surface_files import write_surface
from headtypes.models.records import read_model_record
from headtypes.tasks.records import Sample, read_records

with job(snakemake) as (inputs, spec, outputs, provenance):
    surface = measure_surface(read_records(inputs.samples, Sample), read_model_record(inputs.model), **spec)
    write_surface(outputs.surface, surface, provenance)
