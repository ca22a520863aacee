from headtypes.planning.job import job
from headtypes.analyses.maps.results import read_maps
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.style import save_figure
from headtypes.papers.guan2020.figures.figure5 import atlas_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    save_figure(
        atlas_figure(read_maps(inputs.maps), read_partition(inputs.partition)), outputs.pdf, outputs.png, provenance
    )
