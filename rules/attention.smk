# What is stored of attention itself: the maps of a few samples, and the mean output of each head.


rule measure_head_outputs:
    input:
        model=paths.MODEL,
        samples=paths.SAMPLES,
    output:
        head_outputs=paths.HEAD_OUTPUTS,
    log:
        "logs/measure_head_outputs/{model}/{task}.log",
    benchmark:
        "results/head_outputs/{model}/{task}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("measure_head_outputs"),
    params:
        **identity("measure_head_outputs"),
    script:
        CALL
