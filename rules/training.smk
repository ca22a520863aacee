# Models that the workflow fine-tunes or trains itself, in the layout of `save_pretrained`.


rule finetune_model:
    input:
        base=lambda wildcards: models.RECORD.path.format(model=plan.finetuned(wildcards.model).base),
        rows=lambda wildcards: training.TRAINING_ROWS.path.format(task=plan.finetuned(wildcards.model).task),
    output:
        folder=directory(training.FINETUNED.path),
        files=[f"{training.FINETUNED.path}/{name}" for name in training.SAVED],
        model=models.RECORD.path,
    log:
        "logs/finetune_model/{model}.log",
    benchmark:
        "results/models/{model}.benchmark.tsv"
    wildcard_constraints:
        model=any_of(name for name in plan.config.models if plan.finetuned(name)),
    conda:
        ENVIRONMENT
    resources:
        **needs(training.finetune_model),
    params:
        **identity(training.finetune_model),
    script:
        CALL


rule train_model:
    output:
        folder=directory(training.TRAINED.path),
        files=[f"{training.TRAINED.path}/{name}" for name in training.SAVED],
        model=models.RECORD.path,
    log:
        "logs/train_model/{model}.log",
    benchmark:
        "results/trained/{model}.benchmark.tsv"
    wildcard_constraints:
        model=any_of(name for name in plan.config.models if plan.config.models[name].source.trained),
    conda:
        ENVIRONMENT
    resources:
        **needs(training.train_model),
    params:
        **identity(training.train_model),
    script:
        CALL


READ_MODELS = dict.fromkeys(name for it in [*plan.inputs, *plan.detected] for name in plan.made_from(it.model))
LEARNT_TASKS = [made.task for made in map(plan.finetuned, READ_MODELS) if made] + [it.task for it in plan.probed]


rule downloads:
    input:
        expand(models.RECORD.path, model=[name for name in READ_MODELS if not plan.is_made(name)]),
        expand(data.ROWS.path, task=dict.fromkeys(it.task for it in plan.inputs)),
        expand(training.TRAINING_ROWS.path, task=dict.fromkeys(LEARNT_TASKS)),
        expand(data.TEST_ROWS.path, task=filter(plan.files.of_test, plan.tasks_of("treebank"))),
