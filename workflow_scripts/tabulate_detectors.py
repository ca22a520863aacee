from headtypes.planning.job import job
from headtypes.analyses.detectors.results import detector_table, read_detector_scores
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, provenance):
    write_csv(outputs.table, detector_table(read_detector_scores(inputs.scores), **spec))
