from headtypes.workflow.job import job
from headtypes.base.table_files import write_csv
from headtypes.detectors.table import detector_table, read_detector_scores

with job(snakemake) as (inputs, spec, outputs, provenance):
    write_csv(outputs.table, detector_table(read_detector_scores(inputs.scores), **spec))
