# Every type of heads in every analysis of its model, beside as many random heads of the same layers.


use rule job as join_types with:
    input:
        **{it.name: of_analysis(it) for it in ANALYSES if it.is_compared},
        partition=paths.PARTITION,
        controls=of_left_out(paths.CONTROLS),
        scores=of_left_out(paths.SCORES),
        baselines=lambda wildcards: of_each(
            paths.SCORES,
            [
                plan.baseline(ablation.model, ablation.partition)
                for ablation in plan.left_out(wildcards.model, wildcards.partition)
            ],
        ),
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
        joined=paths.JOINED,
        partition=paths.PARTITION,
        planes=of_analysis(DIVERGENCE, paths.PLANE),
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
