from headtypes.files import read_json
from headtypes.partitions import read_partition
from headtypes.reference import load_reference
from headtypes.tables import table_1, write_both
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs):
    partitions = [read_partition(path) for path in inputs.partitions]
    stabilities = [read_json(path) for path in inputs.stabilities]
    table = table_1(spec["rows"], partitions, stabilities, load_reference(inputs.reference))
    write_both(table, "Table 1: stability and shares of the types", outputs.csv, outputs.markdown)
