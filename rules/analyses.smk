# What analyses read of a model and measure, where their stages name the results that a job reads.

# Inputs that depend on the task, by the names that stages have for them; others are results of these names.
BY_TASK = {
    "test": lambda wildcards: of_test(wildcards.task),
    "texts": texts_of_gradients,
    "answered_windows": windows_of_gradients,
    "company_outputs": head_outputs_of_company,
}

for stage in STAGES.values():
    if stage.inputs:
        outputs = {result.name: result.path for result in RESULTS if result.rule == stage.name}
        first = Path(next(iter(outputs.values())))

        rule:
            name:
                stage.name
            input:
                **{name: BY_TASK.get(name) or getattr(paths, name.upper()) for name in stage.inputs},
            output:
                **outputs,
            log:
                Path("logs", stage.name, *first.parts[2:]).with_suffix(".log").as_posix(),
            benchmark:
                first.with_suffix(f".{stage.name}.benchmark.tsv").as_posix()
            conda:
                ENVIRONMENT
            resources:
                **needs(stage.name),
            params:
                **identity(stage.name),
            script:
                CALL
