# Which heads attend by position, or to tokens that have stood before, beside what chance gives.


rule measure_detectors:
    input:
        model=paths.MODEL,
    output:
        scores=paths.DETECTOR_SCORES,
    log:
        "logs/measure_detectors/{model}.log",
    benchmark:
        "results/detectors/{model}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("measure_detectors"),
    params:
        **identity("measure_detectors"),
    script:
        "../workflow_scripts/measure_detectors.py"


rule tabulate_detectors:
    input:
        scores=paths.DETECTOR_SCORES,
    output:
        table=report(
            paths.DETECTORS,
            caption="../report/detectors.rst",
            category="Tables",
            labels={"table": "detectors", "content": "heads of {model} on random tokens"},
        ),
    log:
        "logs/tabulate_detectors/{model}.log",
    benchmark:
        "results/detectors/{model}.table.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("tabulate_detectors"),
    params:
        **identity("tabulate_detectors"),
    script:
        "../workflow_scripts/tabulate_detectors.py"


rule detectors:
    input:
        of_each(paths.DETECTORS, plan.detected),
    localrule: True
