from headtypes.planning.job import job
from headtypes.analyses.distances.results import read_head_features
from headtypes.analyses.maps.results import read_maps
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.style import save_figure
from headtypes.papers.guan2020.figures.figure1 import heads_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    features, _ = read_head_features(inputs.features, **spec)
    figure = heads_figure(read_maps(inputs.maps), features, read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, provenance)
