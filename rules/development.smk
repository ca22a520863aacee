# One model over its training: what its heads do at each checkpoint, and since when.


rule trace_development:
    input:
        **keyed(
            "trace_development",
            **{
                name: each(it.path, partial(development.files_of, plan, name))
                for name, it in development.TRACED.items()
            },
            scores=each(paths.DETECTOR_SCORES, partial(plan.traced, DETECTORS)),
            partitions=each(paths.PARTITION, plan.traced_partitions),
        ),
        last=lambda wildcards: paths.MODEL.format(model=list(plan.developments[wildcards.development])[-1]),
    output:
        **figure(
            "results/development/{development}", "development", "over a training", "kinds and types", "Both papers"
        ),
        table=paths.DEVELOPMENT,
        onsets=paths.ONSETS,
    log:
        "logs/trace_development/{development}.log",
    benchmark:
        "results/development/{development}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("trace_development"),
    params:
        **identity("trace_development"),
    script:
        "../workflow_scripts/trace_development.py"


rule development:
    input:
        expand(paths.DEVELOPMENT, development=plan.developments),
