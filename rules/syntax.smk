# Probes, and all that finds dependency relations (heads, offsets, probes) and the antecedents of mentions (heads,
# baselines), by Clark et al. 2019, sections 4.2, 4.3 and 5.


rule train_probes:
    input:
        model=paths.MODEL,
        training=paths.TRAINING_ROWS,
        rows=paths.ROWS,
        vectors=of_user(plan.files.of_vectors()),
    output:
        probes=paths.PROBES,
    log:
        "logs/train_probes/{model}/{task}.log",
    benchmark:
        "results/probes/{model}/{task}.training.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("train_probes"),
    params:
        **identity("train_probes", lambda wildcards: plan.files.of_vectors()),
    script:
        CALL


rule syntax:
    input:
        expand(paths.OFFSETS, task=plan.tasks_of("treebank")),
        of_each(paths.RELATIONS, plan.inputs_of("treebank")),
        of_each(paths.PROBE_SCORES, plan.probed),
        of_each(paths.COREFERENCE, plan.inputs_of("coreference")),
