from headtypes.planning.job import job
from headtypes.analyses.types.partitions import read_partition
from headtypes.comparisons.types.results import join_results
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, provenance):
    tasks = spec["tasks"]
    files = {name: dict(zip(tasks[name], getattr(inputs, name), strict=True)) for name in tasks}
    left_out = list(zip(spec["left_out"], inputs.controls, inputs.scores, inputs.baselines, strict=True))
    write_csv(
        outputs.joined,
        join_results(read_partition(inputs.partition), files, left_out=left_out, seed=spec["seed"]),
    )
