# Models that are not made here, found once and recorded. This is a local job, since it may download.


rule fetch_model:
    input:
        lambda wildcards: of_user(plan.model_files(wildcards.model)),
    output:
        model=models.RECORD.path,
    log:
        "logs/fetch_model/{model}.log",
    benchmark:
        "results/sources/models/{model}.benchmark.tsv"
    wildcard_constraints:
        model=any_of(name for name in plan.config.models if not plan.is_made(name)),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **identity(models.fetch_model, lambda wildcards: plan.model_files(wildcards.model)),
        # What the job checks and changes no result; below, what was fetched before is. Snakemake runs no job again for a
        # parameter that asks for `output`.
        sha256=lambda wildcards, output: plan.config.models[wildcards.model].source.sha256 or "",
    script:
        CALL


if workflow.is_main_process and (wrong := wrong_weights(plan, folder_of_results())):
    raise WorkflowError(*wrong.values())
