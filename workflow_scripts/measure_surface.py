from headtypes.planning.job import job
from headtypes.analyses.surface.measure import measure_surface
from headtypes.analyses.surface.results import write_surface
from headtypes.data.records import Sample, read_records
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    surface = measure_surface(read_records(inputs.samples, Sample), read_model_record(inputs.model), **spec)
    write_surface(outputs.surface, surface, provenance)
