# A task's data, found once and recorded, with samples and questions drawn from them; and what analyses read of a model
# and measure, where their stages say what a job reads.

ROWS = {"rows": data.ROWS.path}
# {stage: (inputs, outputs, function from a task to the user's files)}. The parts of a task's data are what is evaluated,
# what is learnt, and the sentences on which choices are scored.
OF_TASKS = {
    data.fetch_task: ({}, {**ROWS, "record": data.ROWS_RECORD.path}, plan.task_files),
    training.fetch_training: (
        {},
        {"rows": training.TRAINING_ROWS.path, "record": training.TRAINING_RECORD.path},
        partial(plan.task_files, key="training_file"),
    ),
    data.fetch_test: (
        {},
        {"rows": data.TEST_ROWS.path, "record": data.TEST_RECORD.path},
        partial(plan.task_files, key="test_file"),
    ),
    data.sample_inputs: (ROWS, {"samples": data.SAMPLES.path}, None),
    data.sample_questions: (ROWS, {"questions": data.QUESTIONS.path}, None),
}

for stage, (read, written, files) in OF_TASKS.items():
    of_task = files and (lambda wildcards, files=files: files(wildcards.task))

    rule:
        name:
            stage.name
        input:
            **read,
            files=lambda wildcards, of_task=of_task: of_user(of_task(wildcards)) if of_task else [],
        output:
            **written,
        log:
            f"logs/{stage.name}/{{task}}.log",
        benchmark:
            Path([*written.values()][-1]).with_suffix(".benchmark.tsv").as_posix()
        localrule: True
        conda:
            ENVIRONMENT
        params:
            **identity(stage, of_task),
        script:
            CALL


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
