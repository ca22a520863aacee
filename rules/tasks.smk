# Data, found once and recorded; samples and questions drawn from them; questions cut into windows for a model.

# The parts of a task's data: what is evaluated, what is learnt, and the sentences on which choices are scored.
PARTS = {
    "fetch_task": (data.ROWS.path, data.ROWS_RECORD.path, plan.files.of_task),
    "fetch_training": (training.TRAINING_ROWS.path, training.TRAINING_RECORD.path, plan.files.of_training),
    "fetch_test": (data.TEST_ROWS.path, data.TEST_RECORD.path, plan.files.of_test),
}
DRAWN = {"sample_inputs": ("samples", data.SAMPLES.path), "sample_questions": ("questions", data.QUESTIONS.path)}


for part, (rows, record, files) in PARTS.items():

    rule:
        name:
            part
        input:
            lambda wildcards, files=files: of_user(files(wildcards.task)),
        output:
            rows=rows,
            record=record,
        log:
            f"logs/{part}/{{task}}.log",
        benchmark:
            record.replace(".json", ".benchmark.tsv")
        localrule: True
        conda:
            ENVIRONMENT
        params:
            **identity(part, lambda wildcards, files=files: files(wildcards.task)),
        script:
            CALL


for drawing, (drawn, path) in DRAWN.items():

    rule:
        name:
            drawing
        input:
            rows=data.ROWS.path,
        output:
            **{drawn: path},
        log:
            f"logs/{drawing}/{{task}}.log",
        benchmark:
            path.replace(".jsonl", ".benchmark.tsv")
        localrule: True
        conda:
            ENVIRONMENT
        params:
            **identity(drawing),
        script:
            CALL
