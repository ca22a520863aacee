# Guan et al. 2020, section 5: what the model answers when a type of head is taken away.


localrules:
    sample_questions,


rule sample_questions:
    input:
        rows=rules.fetch_task.output.rows,
    output:
        questions="results/questions/{task}.jsonl",
    log:
        "logs/sample_questions/{task}.log",
    benchmark:
        "results/questions/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        spec=spec("sample_questions"),
        code=code("sample_questions"),
    script:
        "../workflow_scripts/sample_questions.py"


rule prepare_windows:
    input:
        model=rules.fetch_model.output.model,
        questions=rules.sample_questions.output.questions,
    output:
        windows="results/windows/{model}/{task}.h5",
    log:
        "logs/prepare_windows/{model}/{task}.log",
    benchmark:
        "results/windows/{model}/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("prepare_windows"),
    params:
        spec=spec("prepare_windows"),
        code=code("prepare_windows"),
    script:
        "../workflow_scripts/prepare_windows.py"


rule measure_head_outputs:
    input:
        model=rules.fetch_model.output.model,
        samples=rules.sample_inputs.output.samples,
    output:
        head_outputs="results/head_outputs/{model}/{task}.h5",
    log:
        "logs/measure_head_outputs/{model}/{task}.log",
    benchmark:
        "results/head_outputs/{model}/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("measure_head_outputs"),
    params:
        spec=spec("measure_head_outputs"),
        code=code("measure_head_outputs"),
    script:
        "../workflow_scripts/measure_head_outputs.py"


rule evaluate_shard:
    input:
        model=rules.fetch_model.output.model,
        partition="results/partitions/{model}/{partition}.csv",
        questions=of_task(rules.sample_questions.output.questions),
        windows=of_task(rules.prepare_windows.output.windows),
        head_outputs=head_outputs_of,
    output:
        found=temp("results/shards/ablation/{model}/{partition}/{condition}/{shard}-of-{shards}.parquet"),
    log:
        "logs/evaluate_shard/{model}/{partition}/{condition}/{shard}-of-{shards}.log",
    benchmark:
        "results/shards/ablation/{model}/{partition}/{condition}/{shard}-of-{shards}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("evaluate_shard"),
    params:
        spec=spec("evaluate_shard"),
        code=code("evaluate_shard"),
    script:
        "../workflow_scripts/evaluate_shard.py"


rule evaluate_condition:
    input:
        model=rules.fetch_model.output.model,
        partition="results/partitions/{model}/{partition}.csv",
        questions=of_task(rules.sample_questions.output.questions),
        windows=of_task(rules.prepare_windows.output.windows),
        head_outputs=head_outputs_of,
        parts=parts_of(
            "results/ablation/{model}/{partition}/{condition}/metrics.json",
            rules.evaluate_shard.output.found,
        ),
    output:
        predictions="results/ablation/{model}/{partition}/{condition}/predictions.json",
        metrics="results/ablation/{model}/{partition}/{condition}/metrics.json",
        per_question="results/ablation/{model}/{partition}/{condition}/per_question.parquet",
    log:
        "logs/evaluate_condition/{model}/{partition}/{condition}.log",
    benchmark:
        "results/ablation/{model}/{partition}/{condition}/benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("evaluate_condition"),
    params:
        spec=spec("evaluate_condition"),
        code=code("evaluate_condition"),
    script:
        "../workflow_scripts/evaluate_condition.py"


rule measure_intervals:
    input:
        scores=lambda wildcards: [
            scores_of(each)
            for each in plan.ablations
            if (each.model, each.partition) == (wildcards.model, wildcards.partition)
        ],
    output:
        intervals="results/ablation/{model}/{partition}/intervals.csv",
    log:
        "logs/measure_intervals/{model}/{partition}.log",
    benchmark:
        "results/ablation/{model}/{partition}/intervals.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("measure_intervals"),
    params:
        spec=spec("measure_intervals"),
        code=code("measure_intervals"),
    script:
        "../workflow_scripts/measure_intervals.py"


rule ablations:
    input:
        [f"results/ablation/{each.model}/{each.partition}/{each.name}/metrics.json" for each in plan.ablations],
        [f"results/ablation/{each.model}/{each.name}/intervals.csv" for each in plan.ablated],
