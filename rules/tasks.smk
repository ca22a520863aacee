# Data, found once and recorded; samples and questions drawn from them; questions cut into windows for a model.

ROWS = {"rows": data.ROWS.path}
# {stage: (inputs, outputs, function from a task to the user's files)}. The parts of a task's data are what is evaluated,
# what is learnt, and the sentences on which choices are scored.
OF_TASKS = {
    data.fetch_task: ({}, {**ROWS, "record": data.ROWS_RECORD.path}, plan.files.of_task),
    training.fetch_training: (
        {},
        {"rows": training.TRAINING_ROWS.path, "record": training.TRAINING_RECORD.path},
        plan.files.of_training,
    ),
    data.fetch_test: ({}, {"rows": data.TEST_ROWS.path, "record": data.TEST_RECORD.path}, plan.files.of_test),
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
