from headtypes.choice_tables import read_choice
from headtypes.figures.choice import choice_figure
from headtypes.figures.style import save_figure
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    figure = choice_figure(read_choice(inputs.ways, inputs.agreement, inputs.best), **spec)
    save_figure(figure, outputs.pdf, outputs.png, made)
