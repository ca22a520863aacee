from headtypes.planning.job import job
from headtypes.analyses.effects.figure import effects_figure
from headtypes.analyses.effects.results import read_effects
from headtypes.core.style import save_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    tables = {name: read_effects(path, name) for name, path in inputs.items()}
    save_figure(effects_figure(**tables), outputs.pdf, outputs.png, provenance)
