# Models and data: downloads happen here, as local jobs, and nowhere else. Each record says which revision was had.


localrules:
    fetch_model,
    fetch_task,


rule fetch_model:
    input:
        lambda wildcards: plan.model_files(wildcards.model),
    output:
        model="results/sources/models/{model}.json",
    log:
        "logs/fetch_model/{model}.log",
    benchmark:
        "results/sources/models/{model}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        spec=spec("fetch_model"),
        code=code("fetch_model"),
    script:
        "../workflow_scripts/fetch_model.py"


rule fetch_task:
    input:
        lambda wildcards: plan.task_files(wildcards.task),
    output:
        rows="results/sources/tasks/{task}.jsonl",
        record="results/sources/tasks/{task}.json",
    log:
        "logs/fetch_task/{task}.log",
    benchmark:
        "results/sources/tasks/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        spec=spec("fetch_task"),
        code=code("fetch_task"),
    script:
        "../workflow_scripts/fetch_task.py"
