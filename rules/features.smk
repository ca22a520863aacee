# Distance features: how far, and at which special tokens, each head looks (Guan et al. 2020, section 3).


rule extract_shard:
    input:
        model=paths.MODEL,
        samples=paths.SAMPLES,
    output:
        features=temp(paths.FEATURES_SHARD),
    log:
        "logs/extract_shard/{model}/{task}/{shard}-of-{shards}.log",
    benchmark:
        "results/shards/features/{model}/{task}/{shard}-of-{shards}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("extract_shard"),
    params:
        **identity("extract_shard"),
    script:
        "../workflow_scripts/extract_shard.py"


rule extract_features:
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
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("extract_features"),
    params:
        **identity("extract_features", shard="extract_shard"),
    script:
        "../workflow_scripts/extract_features.py"


rule features:
    input:
        of_each(paths.FEATURES, plan.features),
    localrule: True
