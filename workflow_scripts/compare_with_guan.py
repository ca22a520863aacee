from headtypes.planning.job import job
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.files import read_each, write_text
from headtypes.core.markdown import to_html
from headtypes.core.table_files import write_csv
from headtypes.papers.comparison import tidy_table
from headtypes.papers.guan2020.comparison import KEYS, compare_with_guan, comparison_page
from headtypes.papers.guan2020.published import read_guan2020
from headtypes.papers.guan2020.quantities import collect_quantities, published_stability
from headtypes.papers.guan2020.results import (
    families_of,
    parents_of,
    read_choices,
    read_intervals_of,
    read_tables,
)

with job(snakemake) as (inputs, spec, outputs, provenance):
    published, named = read_guan2020(inputs.reference), spec["partitions"]
    names = [(partition["model"], partition["partition"]) for partition in named]
    partitions, stabilities = read_each(read_partition, inputs.partitions), read_tables(inputs.stability)
    quantities = collect_quantities(
        partitions,
        read_tables(inputs.ablations),
        stabilities,
        published,
        intervals=read_intervals_of(inputs.scores, spec["seed"]),
        choices=read_choices(named, inputs.choices, inputs.agreements),
        parents=parents_of(named, partitions),
        families=families_of(named, partitions),
    )
    table = compare_with_guan(quantities, published_stability(stabilities, names), published)
    page = comparison_page(table, published)
    write_csv(outputs.quantities, tidy_table(quantities, KEYS))
    write_csv(outputs.csv, table)
    write_text(outputs.markdown, page)
    write_text(outputs.html, to_html(page, provenance))
