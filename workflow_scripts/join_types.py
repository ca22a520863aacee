from headtypes.planning.job import job
from headtypes.analyses.types.partitions import read_partition
from headtypes.comparisons.types.results import join_results
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, provenance):
    seed, conditions = spec.pop("seed"), spec.pop("left_out")
    by_task = {name: dict(zip(tasks, getattr(inputs, name), strict=True)) for name, tasks in spec.items()}
    left_out = zip(conditions, inputs.controls, inputs.scores, inputs.baselines, strict=True)
    write_csv(
        outputs.joined,
        join_results(read_partition(inputs.partition), **by_task, left_out=list(left_out), seed=seed),
    )
