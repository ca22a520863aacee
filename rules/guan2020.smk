# Tables and figures of Guan et al., "How Far Does BERT Look At" (COLING 2020), ours beside the published values.


use rule local_job as tabulate_stability with:
    input:
        **keyed(
            "tabulate_stability",
            partitions=each(paths.PARTITION, plan.clustered),
            stabilities=each(paths.STABILITY, plan.clustered),
            counted=each(paths.SAMPLES, plan.clustered),
        ),
        reference=REFERENCE["guan2020"],
    output:
        **table("results/guan2020/table1", "table1", "1", "stability and shares of the types"),
    log:
        "logs/tabulate_stability.log",
    benchmark:
        "results/guan2020/stability.benchmark.tsv"
    localrule: True
    params:
        **identity("tabulate_stability"),


use rule local_job as tabulate_ablations with:
    input:
        **keyed(
            "tabulate_ablations",
            partitions=each(paths.PARTITION, plan.ablated),
            metrics=each(paths.METRICS, plan.tabulated),
            intervals=each(paths.INTERVALS, plan.ablated),
            controls=each(paths.CONTROLS, plan.controlled),
            scores=each(paths.SCORES, plan.controlled),
            baselines=each(paths.SCORES, {it.key: plan.baseline(it.model, it.partition) for it in plan.controlled}),
        ),
        reference=REFERENCE["guan2020"],
    output:
        **table("results/guan2020/table2", "table2", "2", "types left out or made uniform", suffix="_2"),
        **table("results/guan2020/table3", "table3", "3", "attention within and between sentences", suffix="_3"),
    log:
        "logs/tabulate_ablations.log",
    benchmark:
        "results/guan2020/ablations.benchmark.tsv"
    localrule: True
    params:
        **identity("tabulate_ablations"),


use rule local_job as tabulate_readings with:
    input:
        **keyed(
            "tabulate_readings",
            partitions=each(paths.PARTITION, plan.ablated),
            metrics=each(paths.METRICS, plan.ablations),
            scores=each(paths.SCORES, plan.ablations),
        ),
        reference=REFERENCE["guan2020"],
    output:
        **table("results/guan2020/readings", "readings", "readings", "the paper's claims under other readings"),
    log:
        "logs/tabulate_readings.log",
    benchmark:
        "results/guan2020/readings.benchmark.tsv"
    localrule: True
    params:
        **identity("tabulate_readings"),


use rule job as plot_heads with:
    input:
        maps=of_task(paths.MAPS),
        features=of_task(paths.FEATURES),
        partition=paths.PARTITION,
    output:
        **figure("results/guan2020/{model}/{partition}/figure1", "figure1", "1", "typical heads"),
    log:
        "logs/plot_heads/{model}/{partition}.log",
    benchmark:
        "results/guan2020/{model}/{partition}/figure1.benchmark.tsv"
    params:
        **identity("plot_heads"),


use rule job as plot_projection with:
    input:
        places=paths.EMBEDDING,
        partition=paths.PARTITION,
    output:
        **figure("results/guan2020/{model}/{partition}/figure2", "figure2", "2", "heads in two dimensions"),
    log:
        "logs/plot_projection/{model}/{partition}.log",
    benchmark:
        "results/guan2020/{model}/{partition}/figure2.benchmark.tsv"
    params:
        **identity("plot_projection"),


use rule job as plot_layers with:
    input:
        partition=paths.PARTITION,
    output:
        **figure("results/guan2020/{model}/{partition}/figure3", "figure3", "3", "types by layer"),
    log:
        "logs/plot_layers/{model}/{partition}.log",
    benchmark:
        "results/guan2020/{model}/{partition}/figure3.benchmark.tsv"
    params:
        **identity("plot_layers"),


use rule local_job as tabulate_models with:
    input:
        **keyed("tabulate_models", partitions=each(paths.PARTITION, plan.clustered_by, "subject")),
    output:
        csv="results/guan2020/{clustering}/figure4.csv",
        layers="results/guan2020/{clustering}/figure4.layers.csv",
        pairs="results/compared/{clustering}/pairs.csv",
        types="results/compared/{clustering}/types.csv",
        heads="results/compared/{clustering}/heads.csv",
    log:
        "logs/tabulate_models/{clustering}.log",
    benchmark:
        "results/guan2020/{clustering}/figure4.table.benchmark.tsv"
    localrule: True
    params:
        **identity("tabulate_models"),


use rule job as plot_models with:
    input:
        **keyed("plot_models", partitions=each(paths.PARTITION, plan.clustered_by, "subject")),
        comparison=rules.tabulate_models.output.csv,
        reference=REFERENCE["guan2020"],
    output:
        **figure("results/guan2020/{clustering}/figure4", "figure4", "4", "types by model"),
    log:
        "logs/plot_models/{clustering}.log",
    benchmark:
        "results/guan2020/{clustering}/figure4.benchmark.tsv"
    params:
        **identity("plot_models"),


use rule job as plot_maps with:
    input:
        maps=of_task(paths.MAPS),
        partition=paths.PARTITION,
    output:
        **figure("results/guan2020/{model}/{partition}/figure5", "figure5", "5", "every head"),
    log:
        "logs/plot_maps/{model}/{partition}.log",
    benchmark:
        "results/guan2020/{model}/{partition}/figure5.benchmark.tsv"
    params:
        **identity("plot_maps"),


rule guan2020:
    input:
        rules.tabulate_stability.output if plan.clustered else [],
        rules.tabulate_ablations.output if plan.ablations else [],
        rules.tabulate_readings.output if PAPERS["guan2020"].readings(plan) else [],
        compared_with("guan2020"),
        of_each(rules.plot_heads.output.png, plan.partitions.values()),
        of_each(rules.plot_projection.output.png, plan.partitions.values()),
        of_each(rules.plot_layers.output.png, plan.partitions.values()),
        of_each(rules.plot_maps.output.png, plan.partitions.values()),
        expand(rules.plot_models.output.png, clustering=plan.clusterings),
