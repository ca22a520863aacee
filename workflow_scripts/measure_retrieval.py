from headtypes.planning.job import job
from headtypes.analyses.detectors.results import read_detector_table
from headtypes.analyses.detectors.retrieval import measure_retrieval
from headtypes.core.table_files import write_csv
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    detected = read_detector_table(inputs.detected)
    write_csv(outputs.table, measure_retrieval(read_model_record(inputs.model), detected, **spec))
