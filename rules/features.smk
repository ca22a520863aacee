# Distance features: how far, and at which special tokens, each head looks (Guan et al. 2020, section 3).


use rule job_on_samples as extract_shard with:
    output:
        features=temp(paths.FEATURES_SHARD),
    log:
        "logs/extract_shard/{model}/{task}/{shard}-of-{shards}.log",
    benchmark:
        "results/shards/features/{model}/{task}/{shard}-of-{shards}.benchmark.tsv"
    params:
        **identity("extract_shard"),


use rule job as extract_features with:
    input:
        model=paths.MODEL,
        samples=paths.SAMPLES,
        parts=parts_of("extract_features", "extract_shard"),
    output:
        features=paths.FEATURES,
    log:
        "logs/extract_features/{model}/{task}.log",
    benchmark:
        "results/features/{model}/{task}.benchmark.tsv"
    params:
        **identity("extract_features"),


rule features:
    input:
        of_each(paths.FEATURES, plan.features),
