from headtypes.planning.job import job
from headtypes.analyses.detectors.needles import read_texts
from headtypes.analyses.detectors.results import read_detector_table
from headtypes.analyses.detectors.retrieval import measure_retrieval
from headtypes.core.table_files import write_csv
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    model, detected = read_model_record(inputs.model), read_detector_table(inputs.detected)
    table = measure_retrieval(model, detected, documents=read_texts(inputs.planted), **spec)
    write_csv(outputs.table, table)
