# Which heads attend by position, or to tokens that have stood before, beside what chance gives.


rule measure_detectors:
    input:
        model=paths.MODEL,
        planted=expand(paths.ROWS, task=plan.planted),
    output:
        table=entry(paths.DETECTORS, "detectors", "Tables", "heads of {model} on random tokens", table="detectors"),
        scores=paths.DETECTOR_SCORES,
    log:
        "logs/measure_detectors/{model}.log",
    benchmark:
        "results/detectors/{model}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("measure_detectors"),
    params:
        **identity("measure_detectors"),
    script:
        "../workflow_scripts/measure_detectors.py"


rule measure_retrieval:
    input:
        model=paths.MODEL,
        detected=paths.DETECTORS,
        planted=expand(paths.ROWS, task=plan.planted),
    output:
        table=entry(
            paths.RETRIEVAL, "retrieval", "Tables", "{model} without the heads that retrieve", table="retrieval"
        ),
    log:
        "logs/measure_retrieval/{model}.log",
    benchmark:
        "results/retrieval/{model}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("measure_retrieval"),
    params:
        **identity("measure_retrieval"),
    script:
        "../workflow_scripts/measure_retrieval.py"


rule detectors:
    input:
        of_each(paths.DETECTORS, plan.detected),
        of_each(paths.RETRIEVAL, plan.retrieving),
