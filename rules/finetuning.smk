# Models that the workflow makes itself, in the layout of `save_pretrained`.


localrules:
    fetch_training,


rule fetch_training:
    input:
        lambda wildcards: plan.training_files(wildcards.task),
    output:
        rows="results/sources/training/{task}.jsonl",
        record="results/sources/training/{task}.json",
    log:
        "logs/fetch_training/{task}.log",
    benchmark:
        "results/sources/training/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        spec=spec("fetch_training"),
        code=code("fetch_training"),
    script:
        "../workflow_scripts/fetch_training.py"


rule finetune_model:
    input:
        base=lambda wildcards: f"results/sources/models/{plan.finetuned(wildcards.model).base}.json",
        rows=lambda wildcards: f"results/sources/training/{plan.finetuned(wildcards.model).task}.jsonl",
    output:
        folder=directory("results/models/{model}"),
    log:
        "logs/finetune_model/{model}.log",
    benchmark:
        "results/models/{model}.benchmark.tsv"
    wildcard_constraints:
        model=any_of(name for name in plan.config.models if plan.finetuned(name)),
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("finetune_model"),
    params:
        spec=spec("finetune_model"),
        code=code("finetune_model"),
    script:
        "../workflow_scripts/finetune_model.py"
