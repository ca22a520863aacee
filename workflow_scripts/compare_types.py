from headtypes.planning.job import job
from headtypes.analyses.registry import ANALYSES
from headtypes.analyses.types.partitions import read_partition
from headtypes.comparisons.types.results import compare_files
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, provenance):
    files = {it.name: inputs[it.name] for it in ANALYSES if it.is_compared}
    left_out = [
        (spec["left_out"][condition], controls, inputs.scores[condition], inputs.baseline)
        for condition, controls in inputs.controls.items()
    ]
    write_csv(
        outputs.compared_types,
        compare_files(read_partition(inputs.partition), files, left_out=left_out, seed=spec["seed"]),
    )
