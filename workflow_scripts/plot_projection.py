from headtypes.features.feature_files import read_head_features
from headtypes.figures.style import save_figure
from headtypes.papers.guan2020.figure2 import project_heads, projection_figure
from headtypes.types.partitions import read_partition
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, provenance):
    features, _ = read_head_features(inputs.features, spec["distance_bins"])
    figure = projection_figure(project_heads(features, spec["seed"]), read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
