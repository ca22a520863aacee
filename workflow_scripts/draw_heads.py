from headtypes.figures.heads import heads_figure
from headtypes.figures.style import save_figure
from headtypes.map_storage import read_maps
from headtypes.partitions import read_partition
from headtypes.storage import read_head_features
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    features, _ = read_head_features(inputs.features, **spec)
    figure = heads_figure(read_maps(inputs.maps), features, read_partition(inputs.partition))
    save_figure(figure, outputs.pdf, outputs.png, made)
