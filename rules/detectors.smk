# Which heads attend by position, or to tokens that have stood before, beside what chance gives.


use rule job as measure_detectors with:
    input:
        model=paths.MODEL,
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
    params:
        **identity("tabulate_detectors"),


rule detectors:
    input:
        of_each(paths.DETECTORS, plan.detected),
