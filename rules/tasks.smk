# Data, found once and recorded; samples and questions drawn from them; questions cut into windows for a model.


rule fetch_task:
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
    conda:
        ENVIRONMENT
    params:
        **identity("fetch_task", lambda wildcards: plan.files.of_task(wildcards.task)),
    script:
        "../workflow_scripts/fetch_task.py"


rule fetch_test:
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
    conda:
        ENVIRONMENT
    params:
        **identity("fetch_test", lambda wildcards: plan.files.of_test(wildcards.task)),
    script:
        "../workflow_scripts/fetch_task.py"


rule sample_inputs:
    input:
        rows=paths.ROWS,
    output:
        samples=paths.SAMPLES,
    log:
        "logs/sample_inputs/{task}.log",
    benchmark:
        "results/samples/{task}.benchmark.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **identity("sample_inputs"),
    script:
        "../workflow_scripts/sample_inputs.py"


rule sample_questions:
    input:
        rows=paths.ROWS,
    output:
        questions=paths.QUESTIONS,
    log:
        "logs/sample_questions/{task}.log",
    benchmark:
        "results/questions/{task}.benchmark.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **identity("sample_questions"),
    script:
        "../workflow_scripts/sample_questions.py"


rule prepare_windows:
    input:
        model=paths.MODEL,
        questions=paths.QUESTIONS,
    output:
        windows=paths.WINDOWS,
    log:
        "logs/prepare_windows/{model}/{task}.log",
    benchmark:
        "results/windows/{model}/{task}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("prepare_windows"),
    params:
        **identity("prepare_windows"),
    script:
        "../workflow_scripts/prepare_windows.py"
