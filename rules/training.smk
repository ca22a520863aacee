# Models that the workflow fine-tunes or trains itself, in the layout of `save_pretrained`.


# {stage: (folder, inputs, models)}
MADE = {
    training.finetune_model: (
        training.FINETUNED.path,
        {
            "base": lambda wildcards: models.RECORD.path.format(model=plan.finetuned(wildcards.model).base),
            "rows": lambda wildcards: training.TRAINING_ROWS.path.format(task=plan.finetuned(wildcards.model).task),
        },
        filter(plan.finetuned, plan.config.models),
    ),
    training.train_model: (
        training.TRAINED.path,
        {},
        (name for name, model in plan.config.models.items() if model.source.trained),
    ),
}

for stage, (folder, read, made) in MADE.items():

    rule:
        name:
            stage.name
        input:
            **read,
        output:
            folder=directory(folder),
            files=[f"{folder}/{name}" for name in training.SAVED],
            model=models.RECORD.path,
        log:
            f"logs/{stage.name}/{{model}}.log",
        benchmark:
            f"{folder}.benchmark.tsv"
        wildcard_constraints:
            model=any_of(made),
        conda:
            ENVIRONMENT
        resources:
            **needs(stage),
        params:
            **identity(stage),
        script:
            CALL


READ_MODELS = dict.fromkeys(name for entry in [*plan.inputs, *plan.detected] for name in plan.made_from(entry.model))
LEARNT_TASKS = [made.task for made in map(plan.finetuned, READ_MODELS) if made] + [entry.task for entry in plan.probed]


rule downloads:
    input:
        expand(models.RECORD.path, model=[name for name in READ_MODELS if not plan.is_made(name)]),
        expand(training.TRAINING_ROWS.path, task=dict.fromkeys(LEARNT_TASKS)),
        files_of(plan, [data.ROWS, data.TEST_ROWS]),
