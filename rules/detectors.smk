# Which heads attend by position, or to tokens that have stood before, beside what chance gives.


use rule job as measure_detectors with:
    input:
        model=paths.MODEL,
        planted=expand(paths.ROWS, task=plan.planted),
    output:
        scores=paths.DETECTOR_SCORES,
    log:
        "logs/measure_detectors/{model}.log",
    benchmark:
        "results/detectors/{model}.benchmark.tsv"
    params:
        **identity("measure_detectors"),


use rule job as tabulate_detectors with:
    input:
        scores=paths.DETECTOR_SCORES,
    output:
        table=entry(paths.DETECTORS, "detectors", "Tables", "heads of {model} on random tokens", table="detectors"),
    log:
        "logs/tabulate_detectors/{model}.log",
    benchmark:
        "results/detectors/{model}.table.benchmark.tsv"
    params:
        **identity("tabulate_detectors"),


use rule job as measure_retrieval with:
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
    params:
        **identity("measure_retrieval"),


rule detectors:
    input:
        of_each(paths.DETECTORS, plan.detected),
        of_each(paths.RETRIEVAL, plan.retrieving),
