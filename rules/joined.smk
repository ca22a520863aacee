# Every type of heads in every analysis of its model, beside as many random heads of the same layers.


use rule job as join_types with:
    input:
        **keyed(
            "join_types",
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
        joined=paths.JOINED,
    log:
        "logs/join_types/{model}/{partition}.log",
    benchmark:
        "results/joined/{model}/{partition}.benchmark.tsv"
    params:
        **identity("join_types"),


use rule job as plot_joined with:
    input:
        **keyed("plot_joined", planes=each(paths.PLANE, partial(plan.files_of, DIVERGENCE), "task")),
        joined=paths.JOINED,
        partition=paths.PARTITION,
    output:
        **figure("results/joined/{model}/{partition}", "joined", "joined", "types beside random heads", "Both papers"),
    log:
        "logs/plot_joined/{model}/{partition}.log",
    benchmark:
        "results/joined/{model}/{partition}.figure.benchmark.tsv"
    params:
        **identity("plot_joined"),


rule joined:
    input:
        of_each(rules.plot_joined.output.png, plan.joined),
