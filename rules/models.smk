# Models, found once and recorded. This is a local job, since it may download.


rule fetch_model:
    input:
        files=lambda wildcards: of_user(plan.files.of_model(wildcards.model)),
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
