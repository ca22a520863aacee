from headtypes.files import read_json
from headtypes.partitions import read_partition
from headtypes.reference import load_reference
from headtypes.tables import table_2_and_3, write_both
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs):
    read = (read_partition(path) for path in inputs.partitions)
    partitions = {tuple(name): partition for name, partition in zip(spec["partitions"], read, strict=True)}
    metrics = [read_json(path) for path in inputs.metrics]
    removed, sentences = table_2_and_3(spec["rows"], partitions, metrics, load_reference(inputs.reference))
    write_both(removed, "Table 2: types left out or made uniform", outputs.csv_2, outputs.markdown_2)
    write_both(sentences, "Table 3: attention within and between sentences", outputs.csv_3, outputs.markdown_3)
