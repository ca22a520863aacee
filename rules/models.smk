# Models, found once and recorded: downloads happen here, as local jobs, and nowhere else but for data (tasks.smk, training.smk).


rule fetch_model:
    input:
        files=lambda wildcards: of_user(plan.model_files(wildcards.model)),
        finetuned=lambda wildcards: paths.FINETUNED.format(**wildcards) if plan.finetuned(wildcards.model) else [],
    output:
        model=paths.MODEL,
    log:
        "logs/fetch_model/{model}.log",
    benchmark:
        "results/sources/models/{model}.benchmark.tsv"
    localrule: True
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        **identity("fetch_model"),
    script:
        "../workflow_scripts/fetch_model.py"
