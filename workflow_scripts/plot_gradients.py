from snakemake_job import job
from headtypes.analyses.gradients.results import read_gradients
from headtypes.core.style import save_figure
from headtypes.papers.clark2019.figures.figure3 import gradient_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    save_figure(gradient_figure(read_gradients(inputs.gradients)), outputs.pdf, outputs.png, provenance)
