# Which heads attend by position, or to tokens that have stood before, beside what chance gives.


rule measure_detectors:
    input:
        model=models.RECORD.path,
    output:
        table=entry(detectors.TABLE.path, "detectors", "Tables", "heads of {model} on random tokens", table="detectors"),
        scores=detectors.SCORES.path,
    log:
        "logs/measure_detectors/{model}.log",
    benchmark:
        "results/detectors/{model}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs(detectors.measure_detectors),
    params:
        **identity(detectors.measure_detectors),
    script:
        CALL
