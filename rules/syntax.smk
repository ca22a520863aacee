# Dependency relations of treebanks, and what finds them: heads, offsets, probes (Clark et al. 2019, sections 4.2, 5).


rule measure_offsets:
    input:
        rows=paths.ROWS,
        test=lambda wildcards: of_test(wildcards.task),
    output:
        offsets=paths.OFFSETS,
    log:
        "logs/measure_offsets/{task}.log",
    benchmark:
        "results/offsets/{task}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("measure_offsets"),
    params:
        **identity("measure_offsets"),
    script:
        "../workflow_scripts/measure_offsets.py"


rule extract_arcs:
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
    conda:
        ENVIRONMENT
    resources:
        **needs("extract_arcs"),
    params:
        **identity("extract_arcs"),
    script:
        "../workflow_scripts/extract_arcs.py"


rule measure_relations:
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
    conda:
        ENVIRONMENT
    resources:
        **needs("measure_relations"),
    params:
        **identity("measure_relations"),
    script:
        "../workflow_scripts/measure_relations.py"


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
        "results/probes/{model}/{task}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("train_probes"),
    params:
        **identity("train_probes", lambda wildcards: plan.files.of_vectors()),
    script:
        "../workflow_scripts/train_probes.py"


rule measure_probes:
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
    conda:
        ENVIRONMENT
    resources:
        **needs("measure_probes"),
    params:
        **identity("measure_probes"),
    script:
        "../workflow_scripts/measure_probes.py"


rule syntax:
    input:
        expand(paths.OFFSETS, task=plan.tasks_of("treebank")),
        of_each(paths.RELATIONS, plan.inputs_of("treebank")),
        of_each(paths.PROBE_SCORES, plan.probed),
