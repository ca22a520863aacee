# Types of heads: clustering, stability, and how many there are (Guan et al. 2020, section 4).


rule cluster_heads:
    input:
        features=path_of(distances.FEATURES.path, plan.partition),
    output:
        **figure("results/stability/{model}/{partition}", "stability", "stability", "how many types, and how stable"),
        partition=types.PARTITION.path,
        naming=types.NAMING.path,
        stability=types.STABILITY.path,
        numbers=types.NUMBERS_OF_TYPES.path,
    log:
        "logs/cluster_heads/{model}/{partition}.log",
    benchmark:
        "results/partitions/{model}/{partition}.benchmark.tsv"
    wildcard_constraints:
        partition=any_of(partition.name for partition in plan.clustered),
    conda:
        ENVIRONMENT
    resources:
        **needs(types.cluster_heads),
    params:
        **identity(types.cluster_heads),
    script:
        CALL


rule import_partition:
    input:
        table=lambda wildcards: of_user([plan.partitions[wildcards.model, wildcards.partition].file])[0],
        features=path_of(distances.FEATURES.path, plan.partition),
    output:
        partition=types.PARTITION.path,
    log:
        "logs/import_partition/{model}/{partition}.log",
    benchmark:
        "results/partitions/{model}/{partition}.benchmark.tsv"
    wildcard_constraints:
        partition=any_of(partition.name for partition in plan.imported),
    conda:
        ENVIRONMENT
    resources:
        **needs(types.import_partition),
    params:
        **identity(
            types.import_partition, lambda wildcards: [plan.partitions[wildcards.model, wildcards.partition].file]
        ),
    script:
        CALL


rule compare_norms:
    input:
        **inputs_by_key(norms.compare_norms, partitions=paths_by_key(types.PARTITION.path, plan.clustered_on, "name")),
        features=distances.FEATURES.path,
    output:
        heads=norms.HEADS.path,
        types=norms.DIVISIONS.path,
    log:
        "logs/compare_norms/{model}/{task}.log",
    benchmark:
        "results/norms/{model}/{task}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs(norms.compare_norms),
    params:
        **identity(norms.compare_norms),
    script:
        CALL
