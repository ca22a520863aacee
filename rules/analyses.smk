# What analyses read of a model and measure, where their stages say what a job reads.


def what_is_read(read):
    """The path of what a stage reads: of a result, or by a function for each job."""
    return read.path if isinstance(read, Result) else lambda wildcards: read(plan, **wildcards)


for stage in STAGES.values():
    if stage.inputs:
        made = [result for result in RESULTS if result.rule == stage.name]
        first = Path(made[0].path)
        # Several rules make the same of different tasks.
        others = {result.path for result in RESULTS if result.rule != stage.name}
        shared = [result for result in made if result.path in others]
        tasks = {"task": any_of(entry.task for entry in shared[0].of(plan))} if shared else {}

        rule:
            name:
                stage.name
            input:
                **{name: what_is_read(read) for name, read in stage.named_inputs.items()},
            output:
                **{result.name: result.path for result in made},
            log:
                Path("logs", stage.name, *first.parts[2:]).with_suffix(".log").as_posix(),
            benchmark:
                first.with_suffix(f".{stage.name}.benchmark.tsv").as_posix()
            wildcard_constraints:
                **tasks,
            conda:
                ENVIRONMENT
            resources:
                **needs(stage),
            params:
                **identity(stage),
            script:
                CALL
