from headtypes.planning.job import job
from headtypes.core.style import save_figure
from headtypes.papers.clark2019.example_files import read_examples
from headtypes.papers.clark2019.figures.figure1 import examples_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    save_figure(examples_figure(read_examples(inputs.examples)), outputs.pdf, outputs.png, provenance)
