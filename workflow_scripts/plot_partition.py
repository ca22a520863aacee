from script_job import job
from headtypes.analyses.distances.results import read_head_features
from headtypes.analyses.maps.results import AttentionMaps
from headtypes.analyses.types.clustering import embed_heads
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.style import save_figure
from headtypes.core.table_files import write_csv
from headtypes.papers.guan2020.figures.figure1 import heads_figure
from headtypes.papers.guan2020.figures.figures_by_type import atlas_figure, layers_figure, projection_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    features, shape = read_head_features(inputs.features, **spec["features"])
    maps, partition = read_arrays(inputs.maps, AttentionMaps), read_partition(inputs.partition)
    places = embed_heads(features, shape, spec["seed"])
    write_csv(outputs.places, places)
    save_figure(heads_figure(maps, features, partition), outputs.pdf_1, outputs.png_1, provenance)
    save_figure(projection_figure(places, partition), outputs.pdf_2, outputs.png_2, provenance)
    save_figure(layers_figure(partition), outputs.pdf_3, outputs.png_3, provenance)
    save_figure(atlas_figure(maps, partition), outputs.pdf_5, outputs.png_5, provenance)
