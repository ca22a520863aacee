# What finds dependency relations (heads, offsets, probes) and the antecedents of mentions (heads, baselines), by Clark
# et al. 2019, sections 4.2, 4.3 and 5.

TREES = {"rows": paths.ROWS, "test": lambda wildcards: of_test(wildcards.task)}
# Inputs and outputs of what is read and measured of a model's heads on words.
ON_WORDS = {
    "extract_arcs": ({"model": paths.MODEL, **TREES}, {"arcs": paths.ARCS}),
    "measure_relations": ({"arcs": paths.ARCS, **TREES}, {"heads": paths.RELATIONS, "best": paths.RELATIONS_BEST}),
    "measure_probes": (
        {"probes": paths.PROBES, "rows": paths.ROWS, "arcs": paths.ARCS},
        {"scores": paths.PROBE_SCORES},
    ),
    "extract_antecedents": ({"model": paths.MODEL, "rows": paths.ROWS}, {"antecedents": paths.ANTECEDENTS}),
    "measure_coreference": (
        {"antecedents": paths.ANTECEDENTS, "rows": paths.ROWS},
        {"accuracy": paths.COREFERENCE},
    ),
}

for name, (inputs, outputs) in ON_WORDS.items():

    rule:
        name:
            name
        input:
            **inputs,
        output:
            **outputs,
        log:
            f"logs/{name}/{{model}}/{{task}}.log",
        benchmark:
            Path(next(iter(outputs.values()))).with_suffix(".benchmark.tsv").as_posix()
        conda:
            ENVIRONMENT
        resources:
            **needs(name),
        params:
            **identity(name),
        script:
            CALL


rule measure_offsets:
    input:
        **TREES,
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
        CALL


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
