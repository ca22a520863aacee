# Dependency relations of treebanks, and what finds them: heads, offsets, probes (Clark et al. 2019, sections 4.2, 5).


use rule job as measure_offsets with:
    input:
        rows=paths.ROWS,
        test=lambda wildcards: of_test(wildcards.task),
    output:
        offsets=paths.OFFSETS,
    log:
        "logs/measure_offsets/{task}.log",
    benchmark:
        "results/offsets/{task}.benchmark.tsv"
    params:
        **identity("measure_offsets"),


use rule job as extract_arcs with:
    input:
        model=paths.MODEL,
        rows=paths.ROWS,
        test=lambda wildcards: of_test(wildcards.task),
    output:
        arcs=paths.ARCS,
    log:
        "logs/extract_arcs/{model}/{task}.log",
    benchmark:
        "results/arcs/{model}/{task}.benchmark.tsv"
    params:
        **identity("extract_arcs"),


use rule job as measure_relations with:
    input:
        arcs=paths.ARCS,
        rows=paths.ROWS,
        test=lambda wildcards: of_test(wildcards.task),
    output:
        heads=paths.RELATIONS,
        best=paths.RELATIONS_BEST,
    log:
        "logs/measure_relations/{model}/{task}.log",
    benchmark:
        "results/relations/{model}/{task}.benchmark.tsv"
    params:
        **identity("measure_relations"),


use rule job as train_probes with:
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
        "results/probes/{model}/{task}.benchmark.tsv"
    params:
        **identity("train_probes", lambda wildcards: plan.files.of_vectors()),


use rule job as train_type_probes with:
    input:
        model=paths.MODEL,
        training=paths.TRAINING_ROWS,
        rows=paths.ROWS,
        partition=paths.PARTITION,
    output:
        probes=paths.PROBES_OF_TYPES,
    log:
        "logs/train_type_probes/{model}/{task}/{partition}.log",
    benchmark:
        "results/probes/{model}/{task}/{partition}.benchmark.tsv"
    params:
        **identity("train_type_probes"),


use rule job as measure_probes with:
    input:
        probes=paths.PROBES,
        rows=paths.ROWS,
        arcs=paths.ARCS,
    output:
        scores=paths.PROBE_SCORES,
    log:
        "logs/measure_probes/{model}/{task}.log",
    benchmark:
        "results/probes/{model}/{task}.scores.benchmark.tsv"
    params:
        **identity("measure_probes"),


rule syntax:
    input:
        expand(paths.OFFSETS, task=plan.tasks_of("treebank")),
        of_each(paths.RELATIONS, plan.inputs_of("treebank")),
        of_each(paths.PROBE_SCORES, plan.probed),
        of_each(paths.PROBES_OF_TYPES, plan.probed_types),
