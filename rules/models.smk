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
        # What is checked and changes no result: as a parameter it would run everything again.
        demands=lambda wildcards: demands_as_text(plan, wildcards.model),
    params:
        **identity("fetch_model"),
    script:
        "../workflow_scripts/fetch_model.py"


if workflow.is_main_process:
    # The processes of jobs read the rules as well, and need not read the heads of files each time.
    try:
        check_models(plan, folder_of_results())
    except InputError as error:
        raise WorkflowError(str(error)) from None
