# Data, found once and recorded; samples and questions drawn from them; questions cut into windows for a model.

# The parts of a task's data: what is evaluated, what is learnt, and the sentences on which choices are scored.
PARTS = {
    data.fetch_task: (data.ROWS.path, data.ROWS_RECORD.path, plan.files.of_task),
    training.fetch_training: (training.TRAINING_ROWS.path, training.TRAINING_RECORD.path, plan.files.of_training),
    data.fetch_test: (data.TEST_ROWS.path, data.TEST_RECORD.path, plan.files.of_test),
}
DRAWN = {data.sample_inputs: ("samples", data.SAMPLES.path), data.sample_questions: ("questions", data.QUESTIONS.path)}


for stage, (rows, record, files) in PARTS.items():

    rule:
        name:
            stage.name
        input:
            lambda wildcards, files=files: of_user(files(wildcards.task)),
        output:
            rows=rows,
            record=record,
        log:
            f"logs/{stage.name}/{{task}}.log",
        benchmark:
            record.replace(".json", ".benchmark.tsv")
        localrule: True
        conda:
            ENVIRONMENT
        params:
            **identity(stage, lambda wildcards, files=files: files(wildcards.task)),
        script:
            CALL


for stage, (drawn, path) in DRAWN.items():

    rule:
        name:
            stage.name
        input:
            rows=data.ROWS.path,
        output:
            **{drawn: path},
        log:
            f"logs/{stage.name}/{{task}}.log",
        benchmark:
            path.replace(".jsonl", ".benchmark.tsv")
        localrule: True
        conda:
            ENVIRONMENT
        params:
            **identity(stage),
        script:
            CALL
