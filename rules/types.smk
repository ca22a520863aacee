# Types of heads: clustering, stability, confidence, and the choice of method and number (Guan et al. 2020, section 4).


use rule job as cluster_heads with:
    input:
        features=of_task(paths.FEATURES),
    output:
        partition=paths.PARTITION,
        naming=paths.NAMING,
    log:
        "logs/cluster_heads/{model}/{partition}.log",
    benchmark:
        "results/partitions/{model}/{partition}.benchmark.tsv"
    wildcard_constraints:
        partition=any_of(partition.name for partition in plan.clustered),
    params:
        **identity("cluster_heads"),


use rule job as import_partition with:
    input:
        table=lambda wildcards: of_user([plan.partitions[wildcards.model, wildcards.partition].file])[0],
        features=of_task(paths.FEATURES),
    output:
        partition=paths.PARTITION,
    log:
        "logs/import_partition/{model}/{partition}.log",
    benchmark:
        "results/partitions/{model}/{partition}.benchmark.tsv"
    wildcard_constraints:
        partition=any_of(partition.name for partition in plan.imported),
    params:
        **identity("import_partition", lambda wildcards: [plan.partitions[wildcards.model, wildcards.partition].file]),


use rule job as measure_stability with:
    input:
        features=of_task(paths.FEATURES),
        partition=paths.PARTITION,
    output:
        stability=paths.STABILITY,
    log:
        "logs/measure_stability/{model}/{partition}.log",
    benchmark:
        "results/stability/{model}/{partition}.benchmark.tsv"
    wildcard_constraints:
        partition=any_of(partition.name for partition in plan.clustered),
    params:
        **identity("measure_stability"),


use rule measure_stability as measure_confidence with:
    output:
        heads=paths.CONFIDENCE,
        clusterings=paths.CONFIDENCE_CLUSTERINGS,
    log:
        "logs/measure_confidence/{model}/{partition}.log",
    benchmark:
        "results/confidence/{model}/{partition}.benchmark.tsv"
    params:
        **identity("measure_confidence"),


use rule job as plot_confidence with:
    input:
        heads=paths.CONFIDENCE,
        partition=paths.PARTITION,
    output:
        **figure("results/confidence/{model}/{partition}", "confidence", "confidence", "how certain each type is"),
    log:
        "logs/plot_confidence/{model}/{partition}.log",
    benchmark:
        "results/confidence/{model}/{partition}.figure.benchmark.tsv"
    wildcard_constraints:
        partition=any_of(partition.name for partition in plan.clustered),
    params:
        **identity("plot_confidence"),


use rule job as embed_heads with:
    input:
        features=of_task(paths.FEATURES),
    output:
        places=paths.EMBEDDING,
    log:
        "logs/embed_heads/{model}/{partition}.log",
    benchmark:
        "results/embedding/{model}/{partition}.benchmark.tsv"
    params:
        **identity("embed_heads"),


use rule job as choose_clustering with:
    input:
        features=of_chosen(paths.FEATURES),
    output:
        ways=paths.CHOICE,
        agreement=paths.CHOICE_AGREEMENT,
        best=paths.CHOICE_BEST,
    log:
        "logs/choose_clustering/{model}/{task}.log",
    benchmark:
        "results/choice/{model}/{task}.benchmark.tsv"
    wildcard_constraints:
        task=any_of(task for _, task in plan.choices),
    params:
        **identity("choose_clustering"),


use rule job as plot_choice with:
    input:
        ways=paths.CHOICE,
        agreement=paths.CHOICE_AGREEMENT,
        best=paths.CHOICE_BEST,
    output:
        **figure("results/choice/{model}/{task}", "choice", "choice", "how many types, by which method"),
    log:
        "logs/plot_choice/{model}/{task}.log",
    benchmark:
        "results/choice/{model}/{task}.figure.benchmark.tsv"
    wildcard_constraints:
        task=any_of(task for _, task in plan.choices),
    params:
        **identity("plot_choice"),


use rule job as compare_norms with:
    input:
        **keyed("compare_norms", partitions=each(paths.PARTITION, plan.clustered_on, "name")),
        features=paths.FEATURES,
    output:
        heads=paths.NORMS,
        types=paths.NORMS_TYPES,
    log:
        "logs/compare_norms/{model}/{task}.log",
    benchmark:
        "results/norms/{model}/{task}.benchmark.tsv"
    params:
        **identity("compare_norms"),


rule types:
    input:
        of_each(paths.NORMS, plan.with_norms),
        of_each(paths.PARTITION, plan.partitions.values()),
        of_each(rules.plot_confidence.output.png, plan.clustered),
        of_each(rules.plot_choice.output.png, plan.choices.values()),
