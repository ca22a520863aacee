from headtypes.planning.job import job
from headtypes.analyses.types.export import head_table, read_confidence, read_doubts, write_head_list, write_masks
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.table_files import write_csv
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    partition = read_partition(inputs.partition)
    confidence = read_confidence(inputs.confidence) if inputs.confidence else None
    queries = read_model_record(inputs.model, run=False).queries_per_head if inputs.model else 1
    table = head_table(partition, confidence, queries)
    write_head_list(outputs.list, table, read_doubts(inputs.naming) if inputs.naming else {}, spec, provenance)
    write_masks(outputs.masks, partition, provenance)
    write_csv(outputs.table, table)
