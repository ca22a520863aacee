# Every type of heads in every analysis of its model, beside as many random heads.


use rule job as compare_types with:
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
        ),
        partition=paths.PARTITION,
        baseline=of(paths.SCORES, lambda **partition: plan.left_out(**partition) and plan.baseline(**partition)),
    output:
        compared_types=paths.COMPARED_TYPES,
    log:
        "logs/compare_types/{model}/{partition}.log",
    benchmark:
        "results/compared_types/{model}/{partition}.benchmark.tsv"
    params:
        **identity("compare_types"),


use rule job as plot_compared_types with:
    input:
        **keyed("plot_compared_types", projections=each(paths.PROJECTION, partial(plan.files_of, DIVERGENCE), "task")),
        compared_types=paths.COMPARED_TYPES,
        partition=paths.PARTITION,
    output:
        **figure(
            "results/compared_types/{model}/{partition}",
            "compared_types",
            "compared types",
            "types beside random heads",
            "Both papers",
        ),
    log:
        "logs/plot_compared_types/{model}/{partition}.log",
    benchmark:
        "results/compared_types/{model}/{partition}.figure.benchmark.tsv"
    params:
        **identity("plot_compared_types"),


rule compared_types:
    input:
        of_each(rules.plot_compared_types.output.png, plan.compared_types),
