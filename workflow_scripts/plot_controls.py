from snakemake_job import job
from headtypes.analyses.ablation.control_drops import read_drops_of_draws
from headtypes.analyses.ablation.controls_figure import controls_figure
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.style import save_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    drops = {
        condition: read_drops_of_draws(controls, inputs.scores[condition], inputs.baseline, seed=spec["seed"])
        for condition, controls in inputs.controls.items()
    }
    figure = controls_figure(drops, spec["conditions"], read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
