# Data, found once and recorded; samples and questions drawn from them; questions cut into windows for a model.

# The parts of a task's data: what is evaluated, what is learnt, and the sentences on which choices are scored.
PARTS = {
    "fetch_task": (paths.ROWS, paths.ROWS_RECORD, plan.files.of_task),
    "fetch_training": (paths.TRAINING_ROWS, paths.TRAINING_RECORD, plan.files.of_training),
    "fetch_test": (paths.TEST_ROWS, paths.TEST_RECORD, plan.files.of_test),
}
DRAWN = {"sample_inputs": ("samples", paths.SAMPLES), "sample_questions": ("questions", paths.QUESTIONS)}


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
            rows=paths.ROWS,
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
