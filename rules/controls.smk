# Beyond the paper: is it the kind of the heads that counts, or their number?


rule evaluate_controls:
    input:
        model=rules.fetch_model.output.model,
        partition="results/partitions/{model}/{partition}.csv",
        questions=of_task(rules.sample_questions.output.questions),
        windows=of_task(rules.prepare_windows.output.windows),
        head_outputs=head_outputs_of,
    output:
        scores="results/controls/{model}/{partition}/{condition}.parquet",
    log:
        "logs/evaluate_controls/{model}/{partition}/{condition}.log",
    benchmark:
        "results/controls/{model}/{partition}/{condition}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("evaluate_controls"),
    params:
        spec=spec("evaluate_controls"),
        code=code("evaluate_controls"),
    script:
        "../workflow_scripts/evaluate_controls.py"


rule measure_importance:
    input:
        model=rules.fetch_model.output.model,
        questions=rules.sample_questions.output.questions,
        windows=rules.prepare_windows.output.windows,
    output:
        importance="results/importance/{model}/{task}.csv",
    log:
        "logs/measure_importance/{model}/{task}.log",
    benchmark:
        "results/importance/{model}/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("measure_importance"),
    params:
        spec=spec("measure_importance"),
        code=code("measure_importance"),
    script:
        "../workflow_scripts/measure_importance.py"


rule evaluate_curves:
    input:
        model=rules.fetch_model.output.model,
        partition="results/partitions/{model}/{partition}.csv",
        questions=of_task(rules.sample_questions.output.questions),
        windows=of_task(rules.prepare_windows.output.windows),
        importance=of_task(rules.measure_importance.output.importance),
    output:
        curves="results/curves/{model}/{partition}.csv",
    log:
        "logs/evaluate_curves/{model}/{partition}.log",
    benchmark:
        "results/curves/{model}/{partition}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("evaluate_curves"),
    params:
        spec=spec("evaluate_curves"),
        code=code("evaluate_curves"),
    script:
        "../workflow_scripts/evaluate_curves.py"


rule controls:
    input:
        [f"results/controls/{each.model}/{each.partition}/{each.name}.parquet" for each in plan.controlled],
        [f"results/curves/{each.model}/{each.name}.csv" for each in plan.curved],
