from headtypes.workflow.job import job
from headtypes.figures.choice import choice_figure
from headtypes.figures.style import save_figure
from headtypes.types.choice_files import read_choice

with job(snakemake) as (inputs, spec, outputs, provenance):
    figure = choice_figure(read_choice(inputs.ways, inputs.agreement, inputs.best), **spec)
    save_figure(figure, outputs.pdf, outputs.png, provenance)
