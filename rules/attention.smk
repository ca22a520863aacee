# What is stored of attention itself: the maps of a few samples, and the mean output of each head.


use rule job_on_samples as map_attention with:
    output:
        maps=paths.MAPS,
        samples=paths.SAMPLE_MAPS,
    log:
        "logs/map_attention/{model}/{task}.log",
    benchmark:
        "results/maps/{model}/{task}.benchmark.tsv"
    params:
        **identity("map_attention"),


use rule job_on_samples as measure_head_outputs with:
    output:
        head_outputs=paths.HEAD_OUTPUTS,
    log:
        "logs/measure_head_outputs/{model}/{task}.log",
    benchmark:
        "results/head_outputs/{model}/{task}.benchmark.tsv"
    params:
        **identity("measure_head_outputs"),
