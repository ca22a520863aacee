from headtypes.planning.job import job
from headtypes.analyses.ablation.control_drops import read_drops_of_draws
from headtypes.analyses.ablation.controls_figure import controls_figure
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.style import save_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    operations = dict(spec["conditions"])
    drops = {
        condition: read_drops_of_draws(controls, scores, inputs.baseline, seed=spec["seed"])
        for condition, controls, scores in zip(operations, inputs.controls, inputs.scores, strict=True)
    }
    figure = controls_figure(drops, operations, read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
