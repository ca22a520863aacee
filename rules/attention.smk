# What is stored of attention itself: the maps of a few samples, and the mean output of each head.


rule map_attention:
    input:
        model=paths.MODEL,
        samples=paths.SAMPLES,
    output:
        maps=paths.MAPS,
        samples=paths.SAMPLE_MAPS,
    log:
        "logs/map_attention/{model}/{task}.log",
    benchmark:
        "results/maps/{model}/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("map_attention"),
    params:
        **identity("map_attention"),
    script:
        "../workflow_scripts/map_attention.py"


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
        "../envs/headtypes.yaml"
    resources:
        **needs("measure_head_outputs"),
    params:
        **identity("measure_head_outputs"),
    script:
        "../workflow_scripts/measure_head_outputs.py"
