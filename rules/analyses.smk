# What analyses read of a model and measure, where their stages name the results that a job reads.

# Inputs that are there for some tasks alone, by the names that stages have for them.
FOR_SOME_TASKS = {"test": lambda wildcards: of_test(wildcards.task)}

for stage in STAGES.values():
    if stage.inputs:
        outputs = {result.name: result.path for result in RESULTS if result.rule == stage.name}
        first = Path(next(iter(outputs.values())))

        rule:
            name:
                stage.name
            input:
                **{name: FOR_SOME_TASKS.get(name) or getattr(paths, name.upper()) for name in stage.inputs},
            output:
                **outputs,
            log:
                Path("logs", stage.name, *first.parts[2:]).with_suffix(".log").as_posix(),
            benchmark:
                first.with_suffix(".benchmark.tsv").as_posix()
            conda:
                ENVIRONMENT
            resources:
                **needs(stage.name),
            params:
                **identity(stage.name),
            script:
                CALL
