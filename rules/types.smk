# Types of heads: clustering, stability, confidence, and the choice of method and number (Guan et al. 2020, section 4).


rule cluster_heads:
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
    conda:
        ENVIRONMENT
    resources:
        **needs("cluster_heads"),
    params:
        **identity("cluster_heads"),
    script:
        "../workflow_scripts/cluster_heads.py"


rule import_partition:
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
    conda:
        ENVIRONMENT
    resources:
        **needs("import_partition"),
    params:
        **identity("import_partition", lambda wildcards: [plan.partitions[wildcards.model, wildcards.partition].file]),
    script:
        "../workflow_scripts/import_partition.py"


rule measure_stability:
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
    conda:
        ENVIRONMENT
    resources:
        **needs("measure_stability"),
    params:
        **identity("measure_stability"),
    script:
        "../workflow_scripts/measure_stability.py"


rule measure_confidence:
    input:
        features=of_task(paths.FEATURES),
        partition=paths.PARTITION,
    output:
        heads=paths.CONFIDENCE,
        clusterings=paths.CONFIDENCE_CLUSTERINGS,
    log:
        "logs/measure_confidence/{model}/{partition}.log",
    benchmark:
        "results/confidence/{model}/{partition}.benchmark.tsv"
    wildcard_constraints:
        partition=any_of(partition.name for partition in plan.clustered),
    conda:
        ENVIRONMENT
    resources:
        **needs("measure_confidence"),
    params:
        **identity("measure_confidence"),
    script:
        "../workflow_scripts/measure_confidence.py"


rule plot_confidence:
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
    conda:
        ENVIRONMENT
    resources:
        **needs("plot_confidence"),
    params:
        **identity("plot_confidence"),
    script:
        "../workflow_scripts/plot_confidence.py"


rule choose_clustering:
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
    conda:
        ENVIRONMENT
    resources:
        **needs("choose_clustering"),
    params:
        **identity("choose_clustering"),
    script:
        "../workflow_scripts/choose_clustering.py"


rule plot_choice:
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
    conda:
        ENVIRONMENT
    resources:
        **needs("plot_choice"),
    params:
        **identity("plot_choice"),
    script:
        "../workflow_scripts/plot_choice.py"


rule compare_norms:
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
    conda:
        ENVIRONMENT
    resources:
        **needs("compare_norms"),
    params:
        **identity("compare_norms"),
    script:
        "../workflow_scripts/compare_norms.py"


rule types:
    input:
        of_each(paths.NORMS, plan.with_norms),
        of_each(paths.PARTITION, plan.partitions.values()),
        of_each(rules.plot_confidence.output.png, plan.clustered),
        of_each(rules.plot_choice.output.png, plan.choices.values()),
