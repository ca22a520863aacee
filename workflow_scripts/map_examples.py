from headtypes.planning.job import job
from headtypes.analyses.surface.results import read_surface
from headtypes.data.records import Sample, read_records
from headtypes.models.records import read_model_record
from headtypes.papers.clark2019.example_files import write_examples
from headtypes.papers.clark2019.examples import map_examples

with job(snakemake) as (inputs, spec, outputs, provenance):
    samples, surface = read_records(inputs.samples, Sample), read_surface(inputs.surface)
    examples = map_examples(samples, surface, read_model_record(inputs.model), **spec)
    write_examples(outputs.examples, examples, provenance)
