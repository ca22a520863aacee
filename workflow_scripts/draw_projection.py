from headtypes.figures.projection import project_heads, projection_figure
from headtypes.figures.style import save_figure
from headtypes.partitions import read_partition
from headtypes.storage import read_head_features
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    features, _ = read_head_features(inputs.features, spec["windows"])
    figure = projection_figure(project_heads(features, spec["seed"]), read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, made)
