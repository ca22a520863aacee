from headtypes.planning.job import job
from headtypes.analyses.maps.measure import map_attention, map_samples
from headtypes.analyses.maps.results import write_maps, write_sample_maps
from headtypes.data.records import Sample, read_records
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    samples, model = read_records(inputs.samples, Sample), read_model_record(inputs.model)
    write_maps(outputs.maps, map_attention(samples, model, **spec), provenance)
    write_sample_maps(outputs.samples, map_samples(samples, model, **spec), provenance)
