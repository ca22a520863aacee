# Every type of heads in every analysis of its model, beside as many random heads.


rule compare_types:
    input:
        **keyed(
            "compare_types",
            **{
                it.name: each(it.files[0].path, partial(plan.files_of, it), "task")
                for it in ANALYSES
                if it.is_compared
            },
            controls=each(paths.CONTROLS, plan.left_out, "name"),
            scores=each(paths.SCORES, plan.left_out, "name"),
            own=each(paths.OWN, plan.own_analyses_of),
            projections=each(paths.PROJECTION, partial(plan.files_of, DIVERGENCE), "task"),
        ),
        partition=paths.PARTITION,
        baseline=of(paths.SCORES, lambda **partition: plan.left_out(**partition) and plan.baseline(**partition)),
    output:
        **figure(
            "results/compared_types/{model}/{partition}",
            "compared_types",
            "compared types",
            "types beside random heads",
            "Both papers",
        ),
        compared_types=paths.COMPARED_TYPES,
    log:
        "logs/compare_types/{model}/{partition}.log",
    benchmark:
        "results/compared_types/{model}/{partition}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("compare_types"),
    params:
        **identity("compare_types"),
    script:
        CALL


rule compared_types:
    input:
        of_each(rules.compare_types.output.png, plan.compared_types),
