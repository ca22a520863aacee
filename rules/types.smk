# Types of heads: clustering, stability, and how many there are (Guan et al. 2020, section 4).


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
