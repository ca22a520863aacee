from headtypes.files import read_json, write_csv, write_text
from headtypes.partitions import read_partition
from headtypes.reference import load_reference
from headtypes.tables import ablation_page, ablation_table
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs):
    read = (read_partition(path) for path in inputs.partitions)
    partitions = {tuple(name): partition for name, partition in zip(spec["partitions"], read, strict=True)}
    metrics = [read_json(path) for path in inputs.metrics]
    table = ablation_table(spec["rows"], partitions, metrics, load_reference(inputs.reference))
    for number, csv, markdown in ((2, outputs.csv_2, outputs.markdown_2), (3, outputs.csv_3, outputs.markdown_3)):
        write_csv(csv, table[table["table"] == number])
        write_text(markdown, ablation_page(table, partitions, number))
