from script_job import job
from headtypes.analyses.types.partitions import read_partition
from headtypes.comparisons.models.compared import (
    comparison_table,
    heads_table,
    layers_table,
    list_pairs,
    pairs_table,
    types_table,
)
from headtypes.core.files import read_each
from headtypes.core.style import save_figure
from headtypes.core.table_files import write_csv
from headtypes.papers.guan2020.figures.figure4 import models_figure
from headtypes.papers.guan2020.published import Guan2020

with job(snakemake) as (inputs, spec, outputs, provenance):
    partitions = read_each(read_partition, inputs.partitions)
    parents = {name: spec["parents"][name] for name in partitions}
    pairs, comparison = list_pairs(parents, spec["models"]), comparison_table(partitions, parents)
    write_csv(outputs.csv, comparison)
    write_csv(outputs.layers, layers_table(partitions, parents))
    write_csv(outputs.pairs, pairs_table(pairs, partitions))
    write_csv(outputs.types, types_table(pairs, partitions))
    write_csv(outputs.heads, heads_table(pairs, partitions))
    published = Guan2020.read(inputs.reference).shares.types
    save_figure(models_figure(partitions, comparison, published), outputs.pdf, outputs.png, provenance)
