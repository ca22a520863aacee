# Guan et al. 2020, section 3: distance features of every head.


localrules:
    draw_samples,


rule draw_samples:
    input:
        rows=rules.fetch_task.output.rows,
    output:
        samples="results/samples/{task}.jsonl",
    log:
        "logs/draw_samples/{task}.log",
    benchmark:
        "results/samples/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    params:
        spec=spec("draw_samples"),
        code=code("draw_samples"),
    script:
        "../workflow_scripts/draw_samples.py"


rule extract_features:
    input:
        model=rules.fetch_model.output.model,
        samples=rules.draw_samples.output.samples,
    output:
        features="results/features/{model}/{task}.h5",
    log:
        "logs/extract_features/{model}/{task}.log",
    benchmark:
        "results/features/{model}/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    threads: 2
    params:
        spec=spec("extract_features"),
        code=code("extract_features"),
    script:
        "../workflow_scripts/extract_features.py"


rule features:
    input:
        [f"results/features/{model}/{task}.h5" for model, task in plan.features],
