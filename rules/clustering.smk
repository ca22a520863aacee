# Guan et al. 2020, section 4: types of heads, and how stable they are.


rule cluster_heads:
    input:
        features=of_task(rules.extract_features.output.features),
    output:
        partition="results/partitions/{model}/{partition}.csv",
        naming="results/partitions/{model}/{partition}.naming.json",
    log:
        "logs/cluster_heads/{model}/{partition}.log",
    benchmark:
        "results/partitions/{model}/{partition}.benchmark.tsv"
    wildcard_constraints:
        partition=any_of(dict.fromkeys(each.name for each in clustered())),
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("cluster_heads"),
    params:
        spec=spec("cluster_heads"),
        code=code("cluster_heads"),
    script:
        "../workflow_scripts/cluster_heads.py"


rule import_partition:
    input:
        brought=lambda wildcards: plan.partitions[wildcards.model, wildcards.partition].file,
        features=of_task(rules.extract_features.output.features),
    output:
        partition="results/partitions/{model}/{partition}.csv",
    log:
        "logs/import_partition/{model}/{partition}.log",
    benchmark:
        "results/partitions/{model}/{partition}.benchmark.tsv"
    wildcard_constraints:
        partition=any_of(each.name for each in brought()),
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("import_partition"),
    params:
        spec=spec("import_partition"),
        code=code("import_partition"),
    script:
        "../workflow_scripts/import_partition.py"


rule measure_stability:
    input:
        features=of_task(rules.extract_features.output.features),
        partition=rules.cluster_heads.output.partition,
    output:
        stability="results/stability/{model}/{partition}.json",
    log:
        "logs/measure_stability/{model}/{partition}.log",
    benchmark:
        "results/stability/{model}/{partition}.benchmark.tsv"
    wildcard_constraints:
        partition=any_of(dict.fromkeys(each.name for each in clustered())),
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("measure_stability"),
    params:
        spec=spec("measure_stability"),
        code=code("measure_stability"),
    script:
        "../workflow_scripts/measure_stability.py"


rule measure_confidence:
    input:
        features=of_task(rules.extract_features.output.features),
        partition="results/partitions/{model}/{partition}.csv",
    output:
        heads="results/confidence/{model}/{partition}.csv",
        clusterings="results/confidence/{model}/{partition}.json",
    log:
        "logs/measure_confidence/{model}/{partition}.log",
    benchmark:
        "results/confidence/{model}/{partition}.benchmark.tsv"
    wildcard_constraints:
        partition=any_of(dict.fromkeys(each.name for each in clustered())),
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("measure_confidence"),
    params:
        spec=spec("measure_confidence"),
        code=code("measure_confidence"),
    script:
        "../workflow_scripts/measure_confidence.py"


rule choose_clustering:
    input:
        features=rules.extract_features.output.features,
    output:
        ways="results/choice/{model}/{task}.csv",
        agreement="results/choice/{model}/{task}.agreement.csv",
        best="results/choice/{model}/{task}.best.csv",
    log:
        "logs/choose_clustering/{model}/{task}.log",
    benchmark:
        "results/choice/{model}/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("choose_clustering"),
    params:
        spec=spec("choose_clustering"),
        code=code("choose_clustering"),
    script:
        "../workflow_scripts/choose_clustering.py"


rule partitions:
    input:
        [f"results/partitions/{each.model}/{each.name}.csv" for each in plan.partitions.values()],
        [f"results/confidence/{each.model}/{each.name}.csv" for each in clustered()],
