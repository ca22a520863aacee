# Tables and figures of Guan et al., "How Far Does BERT Look At" (COLING 2020), ours beside the published values.


GUAN_TABLES = tables(
    "guan2020",
    "Tables",
    table1=("table1", "stability and shares of the types", plan.clustered, "tex"),
    table2=("table2", "types left out or made uniform", plan.ablations, "tex", "all.csv"),
    table3=("table3", "attention within and between sentences", plan.ablations, "tex", "all.csv"),
    readings=("readings", "the paper's claims under other readings", PAPERS["guan2020"].readings(plan)),
)


rule tabulate_guan2020:
    input:
        **keyed(
            "tabulate_guan2020",
            partitions=each(paths.PARTITION, {it.key: it for it in [*plan.clustered, *plan.ablated]}),
            stabilities=each(paths.STABILITY, plan.clustered),
            counted=each(paths.SAMPLES, plan.clustered),
            metrics=each(paths.METRICS, plan.tabulated),
            scores=each(paths.SCORES, plan.ablations),
            intervals=each(paths.INTERVALS, plan.ablated),
            controls=each(paths.CONTROLS, plan.controlled),
        ),
        reference=REFERENCE["guan2020"],
    output:
        **GUAN_TABLES,
    log:
        "logs/tabulate_guan2020.log",
    benchmark:
        "results/guan2020/tables.benchmark.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **identity("tabulate_guan2020", lambda wildcards: [REFERENCE["guan2020"]]),
    script:
        CALL


rule plot_partition:
    input:
        maps=of_task(paths.MAPS),
        features=of_task(paths.FEATURES),
        partition=paths.PARTITION,
    output:
        **figure_of_partition("1", "typical heads"),
        **figure_of_partition("2", "heads in two dimensions"),
        **figure_of_partition("3", "types by layer"),
        **figure_of_partition("5", "every head"),
        places=paths.EMBEDDING,
    log:
        "logs/plot_partition/{model}/{partition}.log",
    benchmark:
        "results/guan2020/{model}/{partition}/figures.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("plot_partition"),
    params:
        **identity("plot_partition"),
    script:
        CALL


rule compare_models:
    input:
        **keyed("compare_models", partitions=each(paths.PARTITION, plan.clustered_by, "subject")),
    output:
        **figure("results/guan2020/{clustering}/figure4", "figure4", "4", "types by model"),
        csv="results/guan2020/{clustering}/figure4.csv",
        layers="results/guan2020/{clustering}/figure4.layers.csv",
        pairs="results/compared/{clustering}/pairs.csv",
        types="results/compared/{clustering}/types.csv",
        heads="results/compared/{clustering}/heads.csv",
    log:
        "logs/compare_models/{clustering}.log",
    benchmark:
        "results/guan2020/{clustering}/figure4.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("compare_models"),
    params:
        **identity("compare_models"),
    script:
        CALL


rule guan2020:
    input:
        list(GUAN_TABLES.values()),
        compared_with("guan2020"),
        of_each(rules.plot_partition.output.places, plan.partitions.values()),
        expand(rules.compare_models.output.png, clustering=plan.clusterings),
