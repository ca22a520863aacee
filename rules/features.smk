# Guan et al. 2020, section 3: distance features of every head.


localrules:
    sample_inputs,


rule sample_inputs:
    input:
        rows=rules.fetch_task.output.rows,
    output:
        samples="results/samples/{task}.jsonl",
    log:
        "logs/sample_inputs/{task}.log",
    benchmark:
        "results/samples/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        spec=spec("sample_inputs"),
        code=code("sample_inputs"),
    script:
        "../workflow_scripts/sample_inputs.py"


rule extract_shard:
    input:
        model=rules.fetch_model.output.model,
        samples=rules.sample_inputs.output.samples,
    output:
        features=temp("results/shards/features/{model}/{task}/{shard}-of-{shards}.h5"),
    log:
        "logs/extract_shard/{model}/{task}/{shard}-of-{shards}.log",
    benchmark:
        "results/shards/features/{model}/{task}/{shard}-of-{shards}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("extract_shard"),
    params:
        spec=spec("extract_shard"),
        code=code("extract_shard"),
    script:
        "../workflow_scripts/extract_shard.py"


rule extract_features:
    input:
        model=rules.fetch_model.output.model,
        samples=rules.sample_inputs.output.samples,
        parts=parts_of("results/features/{model}/{task}.h5", rules.extract_shard.output.features),
    output:
        features="results/features/{model}/{task}.h5",
    log:
        "logs/extract_features/{model}/{task}.log",
    benchmark:
        "results/features/{model}/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("extract_features"),
    params:
        spec=spec("extract_features"),
        code=code("extract_features"),
    script:
        "../workflow_scripts/extract_features.py"


rule features:
    input:
        [f"results/features/{model}/{task}.h5" for model, task in plan.features],
