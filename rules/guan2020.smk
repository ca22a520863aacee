# Figures of Guan et al., "How Far Does BERT Look At" (COLING 2020), with our heads.


rule plot_partition:
    input:
        maps=of(distances.SHORT_SAMPLE.path, plan.partition),
        features=of(distances.FEATURES.path, plan.partition),
        partition=types.PARTITION.path,
    output:
        **figure_of_partition("1", "typical heads"),
        **figure_of_partition("2", "heads in two dimensions"),
        **figure_of_partition("3", "types by layer"),
        **figure_of_partition("5", "every head"),
        places=types.EMBEDDING.path,
    log:
        "logs/plot_partition/{model}/{partition}.log",
    benchmark:
        "results/guan2020/{model}/{partition}/figures.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs(guan2020.plot_partition),
    params:
        **identity(guan2020.plot_partition),
    script:
        CALL


rule compare_models:
    input:
        **keyed(guan2020.compare_models, partitions=each(types.PARTITION.path, plan.clustered_by, "subject")),
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
        **needs(guan2020.compare_models),
    params:
        **identity(guan2020.compare_models),
    script:
        CALL


rule guan2020:
    input:
        compared_with("guan2020"),
        files_of(plan, PAPERS["guan2020"].results),
