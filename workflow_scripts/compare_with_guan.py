from headtypes.base.files import write_csv, write_text
from headtypes.papers.guan2020.comparison import compare_with_guan, comparison_page
from headtypes.papers.guan2020.published import load_reference
from headtypes.papers.guan2020.results import by_key, parents_of, read_intervals_of, read_silhouettes, read_tables
from headtypes.papers.markdown import to_html
from headtypes.types.partitions import read_partition
from headtypes.workflow.job import job

with job(snakemake) as (inputs, spec, outputs, provenance):
    reference, named = load_reference(inputs.reference), spec["partitions"]
    names = [(each["model"], each["partition"]) for each in named]
    partitions = by_key(names, map(read_partition, inputs.partitions))
    table = compare_with_guan(
        partitions,
        read_tables(inputs.ablations),
        read_tables(inputs.stability),
        reference,
        intervals=read_intervals_of(spec["rows"], inputs.scores, spec["seed"]),
        silhouettes=read_silhouettes(named, by_key(spec["choices"], inputs.choices)),
        parents=parents_of(named, partitions),
    )
    page = comparison_page(table, reference)
    write_csv(outputs.csv, table)
    write_text(outputs.markdown, page)
    write_text(outputs.html, to_html(page, provenance))
