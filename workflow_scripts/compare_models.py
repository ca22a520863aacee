from script_job import job
from headtypes.analyses.types.partitions import read_partition
from headtypes.comparisons.models.compared import (
    heads_table,
    layers_table,
    list_pairs,
    pairs_table,
    parents_table,
    types_table,
)
from headtypes.core.files import read_each
from headtypes.core.style import save_figure
from headtypes.core.table_files import write_csv
from headtypes.papers.guan2020.figures.figure4 import models_figure

with job(snakemake) as (inputs, spec, outputs, provenance):
    partitions = read_each(read_partition, inputs.partitions)
    parents = {name: spec["parents"][name] for name in partitions}
    pairs = list_pairs(parents, spec["models"])
    compared = pairs_table(pairs, partitions)
    write_csv(outputs.csv, parents_table(compared))
    write_csv(outputs.layers, layers_table(partitions, parents))
    write_csv(outputs.pairs, compared)
    write_csv(outputs.types, types_table(pairs, partitions))
    write_csv(outputs.heads, heads_table(pairs, partitions))
    save_figure(models_figure(partitions, parents), outputs.pdf, outputs.png, provenance)
