# Tables and figures of Guan et al., "How Far Does BERT Look At" (COLING 2020), ours beside the published values.

# Relative to the working directory: a folder that was moved has the same inputs.
GUAN2020 = local(os.path.relpath(ROOT / "reference" / "guan2020.yaml"))

if workflow.is_main_process:
    # The processes of jobs read the rules as well, and need not read the paper's data each time.
    from headtypes.papers.guan2020.published import read_guan2020

    try:
        plan.check_published("guan2020", read_guan2020(GUAN2020).rows)
    except InputError as error:
        raise WorkflowError(str(error)) from None


use rule local_job as tabulate_stability with:
    input:
        **keyed(
            "tabulate_stability",
            partitions=each(paths.PARTITION, plan.clustered),
            stabilities=each(paths.STABILITY, plan.clustered),
            counted=each(paths.SAMPLES, plan.clustered),
        ),
        reference=GUAN2020,
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
        reference=GUAN2020,
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
        reference=GUAN2020,
    output:
        **table("results/guan2020/readings", "readings", "readings", "the paper's claims under other readings"),
    log:
        "logs/tabulate_readings.log",
    benchmark:
        "results/guan2020/readings.benchmark.tsv"
    localrule: True
    params:
        **identity("tabulate_readings"),


use rule local_job as compare_with_guan with:
    input:
        **keyed(
            "compare_with_guan",
            partitions=each(paths.PARTITION, plan.partitions.values()),
            scores=each(paths.SCORES, plan.tabulated),
            choices=each(paths.CHOICE, plan.features),
            agreements=each(paths.CHOICE_AGREEMENT, plan.features),
        ),
        stability=[rules.tabulate_stability.output.csv] if plan.clustered else [],
        ablations=(
            [rules.tabulate_ablations.output.csv_2, rules.tabulate_ablations.output.csv_3] if plan.ablations else []
        ),
        reference=GUAN2020,
    output:
        **table(
            "results/guan2020/comparison",
            "comparison",
            "comparison",
            "ours beside the paper's, and its claims",
            category="Comparison",
        ),
        quantities="results/guan2020/quantities.csv",
    log:
        "logs/compare_with_guan.log",
    benchmark:
        "results/guan2020/comparison.benchmark.tsv"
    localrule: True
    params:
        **identity("compare_with_guan"),


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
        **figure("results/guan2020/{model}/{partition}/figure2", "figure2", "2", "heads in the plane"),
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
    wildcard_constraints:
        clustering=any_of(plan.clusterings),
    localrule: True
    params:
        **identity("tabulate_models"),


use rule job as plot_models with:
    input:
        **keyed("plot_models", partitions=each(paths.PARTITION, plan.clustered_by, "subject")),
        comparison=rules.tabulate_models.output.csv,
        reference=GUAN2020,
    output:
        **figure("results/guan2020/{clustering}/figure4", "figure4", "4", "types by model"),
    log:
        "logs/plot_models/{clustering}.log",
    benchmark:
        "results/guan2020/{clustering}/figure4.benchmark.tsv"
    wildcard_constraints:
        clustering=any_of(plan.clusterings),
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
        rules.tabulate_readings.output if plan.readings and plan.ablations else [],
        rules.compare_with_guan.output if plan.partitions else [],
        of_each(rules.plot_heads.output.png, plan.partitions.values()),
        of_each(rules.plot_projection.output.png, plan.partitions.values()),
        of_each(rules.plot_layers.output.png, plan.partitions.values()),
        of_each(rules.plot_maps.output.png, plan.partitions.values()),
        expand(rules.plot_models.output.png, clustering=plan.clusterings),
