from headtypes.planning.job import job
from headtypes.analyses.use.figure import use_figure
from headtypes.analyses.use.results import read_use
from headtypes.core.style import save_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    save_figure(use_figure(read_use(inputs.table)), outputs.pdf, outputs.png, provenance)
