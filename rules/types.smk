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
        "../envs/headtypes.yaml"
    resources:
        **needs("cluster_heads"),
    params:
        **identity("cluster_heads"),
    script:
        "../workflow_scripts/cluster_heads.py"


rule import_partition:
    input:
        table=lambda wildcards: local(plan.partitions[wildcards.model, wildcards.partition].file),
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
        "../envs/headtypes.yaml"
    resources:
        **needs("import_partition"),
    params:
        **identity("import_partition"),
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
        "../envs/headtypes.yaml"
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
        "../envs/headtypes.yaml"
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
        pdf="results/confidence/{model}/{partition}.pdf",
        png=report(
            "results/confidence/{model}/{partition}.png",
            caption="../report/confidence.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "confidence", "partition": "{partition}", "content": "how certain each type is"},
        ),
    log:
        "logs/plot_confidence/{model}/{partition}.log",
    benchmark:
        "results/confidence/{model}/{partition}.figure.benchmark.tsv"
    wildcard_constraints:
        partition=any_of(partition.name for partition in plan.clustered),
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_confidence"),
    params:
        **identity("plot_confidence"),
    script:
        "../workflow_scripts/plot_confidence.py"


rule embed_heads:
    input:
        features=of_task(paths.FEATURES),
    output:
        places=paths.EMBEDDING,
    log:
        "logs/embed_heads/{model}/{partition}.log",
    benchmark:
        "results/embedding/{model}/{partition}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("embed_heads"),
    params:
        **identity("embed_heads"),
    script:
        "../workflow_scripts/embed_heads.py"


rule choose_clustering:
    input:
        features=paths.FEATURES,
    output:
        ways=paths.CHOICE,
        agreement=paths.CHOICE_AGREEMENT,
        best=paths.CHOICE_BEST,
    log:
        "logs/choose_clustering/{model}/{task}.log",
    benchmark:
        "results/choice/{model}/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
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
        pdf="results/choice/{model}/{task}.pdf",
        png=report(
            "results/choice/{model}/{task}.png",
            caption="../report/choice.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "choice", "partition": "{task}", "content": "how many types, by which method"},
        ),
    log:
        "logs/plot_choice/{model}/{task}.log",
    benchmark:
        "results/choice/{model}/{task}.figure.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_choice"),
    params:
        **identity("plot_choice"),
    script:
        "../workflow_scripts/plot_choice.py"


rule types:
    input:
        of_each(paths.PARTITION, plan.partitions.values()),
        of_each(rules.plot_confidence.output.png, plan.clustered),
        of_each(rules.plot_choice.output.png, plan.features),
    localrule: True
