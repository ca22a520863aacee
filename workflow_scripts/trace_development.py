from headtypes.planning.job import job
from headtypes.analyses.registry import ANALYSES
from headtypes.comparisons.development.figure import development_figure
from headtypes.comparisons.development.onsets import read_onsets
from headtypes.comparisons.development.trace import trace
from headtypes.core.style import save_figure
from headtypes.core.table_files import write_csv
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, provenance):
    record = read_model_record(inputs.last, run=False)
    measured = {file.name: inputs[file.name] for it in ANALYSES if it.is_traced for file in it.files}
    shape = record.layers, record.heads
    table = trace(spec["steps"], shape, measured, inputs.scores, inputs.partitions, spec["seed"])
    write_csv(outputs.table, table)
    onsets = read_onsets(spec["steps"], measured, inputs.partitions, spec["seed"])
    write_csv(outputs.onsets, onsets)
    save_figure(development_figure(table, onsets), outputs.pdf, outputs.png, provenance)
