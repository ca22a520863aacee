# Models that the workflow fine-tunes or trains itself, in the layout of `save_pretrained`.


rule finetune_model:
    input:
        base=lambda wildcards: paths.MODEL.format(model=plan.finetuned(wildcards.model).base),
        rows=lambda wildcards: paths.TRAINING_ROWS.format(task=plan.finetuned(wildcards.model).task),
    output:
        folder=directory(paths.FINETUNED),
        files=[f"{paths.FINETUNED}/{name}" for name in SAVED],
        model=paths.MODEL,
    log:
        "logs/finetune_model/{model}.log",
    benchmark:
        "results/models/{model}.benchmark.tsv"
    wildcard_constraints:
        model=any_of(name for name in plan.config.models if plan.finetuned(name)),
    conda:
        ENVIRONMENT
    resources:
        **needs("finetune_model"),
    params:
        **identity("finetune_model"),
    script:
        CALL


rule train_model:
    output:
        folder=directory(paths.TRAINED),
        files=[f"{paths.TRAINED}/{name}" for name in SAVED],
        model=paths.MODEL,
    log:
        "logs/train_model/{model}.log",
    benchmark:
        "results/trained/{model}.benchmark.tsv"
    wildcard_constraints:
        model=any_of(name for name in plan.config.models if plan.config.models[name].source.trained),
    conda:
        ENVIRONMENT
    resources:
        **needs("train_model"),
    params:
        **identity("train_model"),
    script:
        CALL


READ_MODELS = dict.fromkeys(name for it in [*plan.inputs, *plan.detected] for name in plan.made_from(it.model))
LEARNT_TASKS = [made.task for made in map(plan.finetuned, READ_MODELS) if made] + [it.task for it in plan.probed]


rule downloads:
    input:
        expand(paths.MODEL, model=[name for name in READ_MODELS if not plan.is_made(name)]),
        expand(paths.ROWS, task=dict.fromkeys(it.task for it in plan.inputs)),
        expand(paths.TRAINING_ROWS, task=dict.fromkeys(LEARNT_TASKS)),
        expand(paths.TEST_ROWS, task=filter(plan.files.of_test, plan.tasks_of("treebank"))),
