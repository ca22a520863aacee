# Data, found once and recorded; samples and questions drawn from them; questions cut into windows for a model.


use rule local_job as fetch_task with:
    input:
        lambda wildcards: of_user(plan.files.of_task(wildcards.task)),
    output:
        rows=paths.ROWS,
        record=paths.ROWS_RECORD,
    log:
        "logs/fetch_task/{task}.log",
    benchmark:
        "results/sources/tasks/{task}.benchmark.tsv"
    localrule: True
    params:
        **identity("fetch_task", lambda wildcards: plan.files.of_task(wildcards.task)),


use rule local_job as fetch_test with:
    input:
        lambda wildcards: of_user(plan.files.of_test(wildcards.task)),
    output:
        rows=paths.TEST_ROWS,
        record=paths.TEST_RECORD,
    log:
        "logs/fetch_test/{task}.log",
    benchmark:
        "results/sources/test/{task}.benchmark.tsv"
    wildcard_constraints:
        task=any_of(task for task in plan.config.tasks if plan.files.of_test(task)),
    localrule: True
    params:
        **identity("fetch_test", lambda wildcards: plan.files.of_test(wildcards.task)),


use rule local_job as sample_inputs with:
    input:
        rows=paths.ROWS,
    output:
        samples=paths.SAMPLES,
    log:
        "logs/sample_inputs/{task}.log",
    benchmark:
        "results/samples/{task}.benchmark.tsv"
    localrule: True
    params:
        **identity("sample_inputs"),


use rule local_job as sample_questions with:
    input:
        rows=paths.ROWS,
    output:
        questions=paths.QUESTIONS,
    log:
        "logs/sample_questions/{task}.log",
    benchmark:
        "results/questions/{task}.benchmark.tsv"
    localrule: True
    params:
        **identity("sample_questions"),


use rule job as prepare_windows with:
    input:
        model=paths.MODEL,
        questions=paths.QUESTIONS,
    output:
        windows=paths.WINDOWS,
    log:
        "logs/prepare_windows/{model}/{task}.log",
    benchmark:
        "results/windows/{model}/{task}.benchmark.tsv"
    params:
        **identity("prepare_windows"),
