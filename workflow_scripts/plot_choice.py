from headtypes.planning.job import job
from headtypes.analyses.types.choice_figure import choice_figure
from headtypes.analyses.types.choice_files import read_choice
from headtypes.core.style import save_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    figure = choice_figure(read_choice(inputs.ways, inputs.agreement, inputs.best), **spec)
    save_figure(figure, outputs.pdf, outputs.png, provenance)
