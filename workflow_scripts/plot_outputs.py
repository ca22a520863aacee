from headtypes.planning.job import job
from headtypes.analyses.outputs.figure import outputs_figure
from headtypes.analyses.outputs.results import read_heads, read_layers
from headtypes.core.style import save_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    save_figure(
        outputs_figure(read_heads(inputs.heads), read_layers(inputs.layers)), outputs.pdf, outputs.png, provenance
    )
