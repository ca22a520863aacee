from script_job import job
from headtypes.analyses.distances.results import read_distance, read_head_features
from headtypes.analyses.types.choice import measure_types
from headtypes.analyses.types.clustering import cluster_heads, partition_of
from headtypes.analyses.types.partitions import write_partition
from headtypes.analyses.types.stability_figure import stability_figure
from headtypes.core.files import write_json
from headtypes.core.progress import warn
from headtypes.core.style import save_figure
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, provenance):
    read, stability_seeds = spec.pop("features"), spec.pop("stability")
    features, shape = read_head_features(inputs.features, **read)
    clustering = cluster_heads(features, **spec)
    warn(provenance, clustering.naming.warnings)
    write_json(outputs.naming, {**clustering.naming.as_dict(), "provenance": provenance})
    partition = partition_of(clustering, features, shape)
    write_partition(outputs.partition, partition)
    distance, labels = read_distance(inputs.features, **read), partition.table["cluster"].to_numpy()
    stability, numbers = measure_types(distance, labels, **{**spec, **stability_seeds})
    write_json(outputs.stability, {**stability, "provenance": provenance})
    write_csv(outputs.numbers, numbers)
    save_figure(stability_figure(stability, numbers, partition), outputs.pdf, outputs.png, provenance)
