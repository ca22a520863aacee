# Probes, and all that finds dependency relations (heads, offsets, probes) and the antecedents of mentions (heads,
# baselines), by Clark et al. 2019, sections 4.2, 4.3 and 5.


rule train_probes:
    input:
        model=models.RECORD.path,
        training=training.TRAINING_ROWS.path,
        rows=data.ROWS.path,
        vectors=of_user(plan.vector_files()),
    output:
        probes=probes.WORDS.path,
    log:
        "logs/train_probes/{model}/{task}.log",
    benchmark:
        "results/probes/{model}/{task}.training.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs(probes.train_probes),
    params:
        **identity(probes.train_probes, lambda wildcards: plan.vector_files()),
    script:
        CALL
