# Every type of heads in every analysis of its model, beside as many random heads.


rule compare_types:
    input:
        **inputs_by_key(
            compared_types.compare_types,
            **{
                analysis.name: paths_by_key(analysis.files[0].path, partial(plan.entries_of, analysis), "task")
                for analysis in ANALYSES
                if analysis.is_compared
            },
            controls=paths_by_key(ablation.CONTROLS.path, plan.left_out, "name"),
            scores=paths_by_key(ablation.SCORES.path, plan.left_out, "name"),
            own=paths_by_key(own.VALUES.path, plan.own_analyses_of),
            projections=paths_by_key(
                divergence.PROJECTION.path, partial(plan.entries_of, divergence.DIVERGENCE), "task"
            ),
        ),
        partition=types.PARTITION.path,
        baseline=path_of(
            ablation.SCORES.path, lambda **partition: plan.left_out(**partition) and plan.baseline(**partition)
        ),
    output:
        **figure(
            "results/compared_types/{model}/{partition}",
            "compared_types",
            "compared types",
            "types beside random heads",
            "Both papers",
        ),
        compared_types=compared_types.TABLE.path,
    log:
        "logs/compare_types/{model}/{partition}.log",
    benchmark:
        "results/compared_types/{model}/{partition}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs(compared_types.compare_types),
    params:
        **identity(compared_types.compare_types),
    script:
        CALL
