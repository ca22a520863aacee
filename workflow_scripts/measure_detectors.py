from snakemake_job import job
from headtypes.analyses.detectors.measure import measure_detectors
from headtypes.analyses.detectors.results import detector_table
from headtypes.core.table_files import write_csv, write_parquet
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    table = spec.pop("table")
    scores = measure_detectors(read_model_record(inputs.model), **spec)
    scores.attrs["provenance"] = provenance
    write_parquet(outputs.scores, scores)
    write_csv(outputs.table, detector_table(scores, **table))
