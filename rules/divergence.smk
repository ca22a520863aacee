# How differently heads attend, and the heads in two dimensions (Clark et al. 2019, section 6).


use rule job_on_samples as measure_divergence_shard with:
    output:
        divergence=temp(paths.DIVERGENCE_SHARD),
    log:
        "logs/measure_divergence_shard/{model}/{task}/{shard}-of-{shards}.log",
    benchmark:
        "results/shards/divergence/{model}/{task}/{shard}-of-{shards}.benchmark.tsv"
    params:
        **identity("measure_divergence_shard"),


use rule job as measure_divergence with:
    input:
        model=paths.MODEL,
        samples=paths.SAMPLES,
        parts=parts_of("measure_divergence", "measure_divergence_shard"),
    output:
        divergence=paths.DIVERGENCE,
    log:
        "logs/measure_divergence/{model}/{task}.log",
    benchmark:
        "results/divergence/{model}/{task}.benchmark.tsv"
    params:
        **identity("measure_divergence"),


use rule job as project_heads with:
    input:
        divergence=paths.DIVERGENCE,
    output:
        projection=paths.PROJECTION,
        fit=paths.PROJECTION_FIT,
    log:
        "logs/project_heads/{model}/{task}.log",
    benchmark:
        "results/divergence/{model}/{task}.projection.benchmark.tsv"
    params:
        **identity("project_heads"),


rule divergence:
    input:
        of_each(paths.PROJECTION, plan.texts),
