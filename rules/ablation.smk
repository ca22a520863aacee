# What the model answers when heads are taken away (Guan et al. 2020, section 5), with random heads as controls.

# What a model answers a partition's task from.
ANSWERED = {
    "model": models.RECORD.path,
    "partition": types.PARTITION.path,
    "questions": path_of(data.QUESTIONS.path, plan.partition),
    "windows": path_of(data.WINDOWS.path, plan.partition),
    # Where the condition replaces a head's output by its mean.
    "head_outputs": path_of(
        ablation.OUTPUTS.path,
        lambda condition, **by: plan.needs_head_outputs(plan.reading(condition)[0]) and plan.partition(**by),
    ),
}


rule evaluate_condition:
    input:
        **ANSWERED,
    output:
        predictions=ablation.ANSWERS.path,
        metrics=ablation.METRICS.path,
        per_question=ablation.SCORES.path,
    log:
        "logs/evaluate_condition/{model}/{partition}/{condition}.log",
    benchmark:
        "results/ablation/{model}/{partition}/{condition}/benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs(ablation.evaluate_condition),
    params:
        **identity(ablation.evaluate_condition),
    script:
        CALL


rule measure_intervals:
    input:
        **inputs_by_key(
            ablation.measure_intervals, scores=paths_by_key(ablation.SCORES.path, plan.ablations_of, "name")
        ),
    output:
        intervals=ablation.INTERVALS.path,
        differences=ablation.DIFFERENCES.path,
    log:
        "logs/measure_intervals/{model}/{partition}.log",
    benchmark:
        "results/ablation/{model}/{partition}/intervals.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs(ablation.measure_intervals),
    params:
        **identity(ablation.measure_intervals),
    script:
        CALL


rule evaluate_controls:
    input:
        **ANSWERED,
    output:
        scores=ablation.CONTROLS.path,
    log:
        "logs/evaluate_controls/{model}/{partition}/{condition}.log",
    benchmark:
        "results/controls/{model}/{partition}/{condition}.benchmark.tsv"
    # They take as long as many conditions, which would otherwise come first and leave one of these to run alone.
    priority: 1
    conda:
        ENVIRONMENT
    resources:
        **needs(ablation.evaluate_controls),
    params:
        **identity(ablation.evaluate_controls),
    script:
        CALL


rule plot_controls:
    input:
        **inputs_by_key(
            ablation.plot_controls,
            controls=paths_by_key(ablation.CONTROLS.path, plan.controlled_of, "name"),
            scores=paths_by_key(ablation.SCORES.path, plan.controlled_of, "name"),
        ),
        baseline=path_of(ablation.SCORES.path, plan.baseline),
        partition=types.PARTITION.path,
    output:
        **figure("results/controls/{model}/{partition}", "controls", "controls", "types beside random heads"),
    log:
        "logs/plot_controls/{model}/{partition}.log",
    benchmark:
        "results/controls/{model}/{partition}.figure.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs(ablation.plot_controls),
    params:
        **identity(ablation.plot_controls),
    script:
        CALL


rule measure_costs:
    input:
        **inputs_by_key(
            company.measure_costs,
            partitions=paths_by_key(types.PARTITION.path, plan.partitions_of, "name"),
            **{
                file.name: paths_by_key(file.path, partial(plan.files_of, it), "task")
                for it in ANALYSES
                if it.per_head and it.name != "company"
                for file in it.files
            },
            own=paths_by_key(own.VALUES.path, plan.own_analyses_of),
        ),
        sets=company.SETS.path,
    output:
        costs=company.COSTS.path,
        fit=company.FIT.path,
        labels=company.LABELS.path,
    log:
        "logs/measure_costs/{model}/{task}.log",
    benchmark:
        "results/company/{model}/{task}.costs.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs(company.measure_costs),
    params:
        **identity(company.measure_costs),
    script:
        CALL
