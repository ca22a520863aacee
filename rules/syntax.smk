# Dependency relations of treebanks, and what finds them (Clark et al. 2019, section 4.2).


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
        "../envs/headtypes.yaml"
    resources:
        **needs("measure_offsets"),
    params:
        **identity("measure_offsets"),
    script:
        "../workflow_scripts/measure_offsets.py"


rule syntax:
    input:
        expand(paths.OFFSETS, task=plan.tasks_of("treebank")),
    localrule: True
