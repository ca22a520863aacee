# Every type of heads in every analysis of its model, beside as many random heads of the same layers.


rule join_types:
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
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("join_types"),
    params:
        **identity("join_types"),
    script:
        "../workflow_scripts/join_types.py"


rule plot_joined:
    input:
        joined=paths.JOINED,
        partition=paths.PARTITION,
        planes=of_analysis(DIVERGENCE, paths.PLANE),
    output:
        pdf="results/joined/{model}/{partition}.pdf",
        png=report(
            "results/joined/{model}/{partition}.png",
            caption="../report/joined.rst",
            category="Both papers",
            subcategory="{model}",
            labels={"figure": "joined", "partition": "{partition}", "content": "types beside random heads"},
        ),
    log:
        "logs/plot_joined/{model}/{partition}.log",
    benchmark:
        "results/joined/{model}/{partition}.figure.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_joined"),
    params:
        **identity("plot_joined"),
    script:
        "../workflow_scripts/plot_joined.py"


rule joined:
    input:
        of_each(rules.plot_joined.output.png, plan.joined),
    localrule: True
