from headtypes.planning.job import job
from headtypes.analyses.distances.results import read_distance
from headtypes.analyses.types.choice import measure_types
from headtypes.analyses.types.partitions import read_partition
from headtypes.analyses.types.stability_figure import stability_figure
from headtypes.core.files import write_json
from headtypes.core.style import save_figure
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, provenance):
    distance = read_distance(inputs.features, **spec.pop("features"))
    partition = read_partition(inputs.partition)
    stability, numbers = measure_types(distance, partition.table["cluster"].to_numpy(), **spec)
    write_json(outputs.stability, {**stability, "provenance": provenance})
    write_csv(outputs.numbers, numbers)
    save_figure(stability_figure(stability, numbers, partition), outputs.pdf, outputs.png, provenance)
