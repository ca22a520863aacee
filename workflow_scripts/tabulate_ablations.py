from headtypes.files import read_json, write_csv, write_text
from headtypes.markdown import to_html
from headtypes.partitions import read_partition
from headtypes.reference import load_reference
from headtypes.tables import ablation_page, ablation_table
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    read = (read_partition(path) for path in inputs.partitions)
    partitions = {tuple(name): partition for name, partition in zip(spec["partitions"], read, strict=True)}
    metrics = [read_json(path) for path in inputs.metrics]
    table = ablation_table(spec["rows"], partitions, metrics, load_reference(inputs.reference))
    for number in (2, 3):
        page = ablation_page(table, partitions, number)
        write_csv(outputs[f"csv_{number}"], table[table["table"] == number])
        write_text(outputs[f"markdown_{number}"], page)
        write_text(outputs[f"html_{number}"], to_html(page, made))
