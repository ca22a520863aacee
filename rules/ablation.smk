# Guan et al. 2020, section 5: what the model answers when a type of head is taken away.


localrules:
    draw_questions,


rule draw_questions:
    input:
        rows=rules.fetch_task.output.rows,
    output:
        questions="results/questions/{task}.jsonl",
    log:
        "logs/draw_questions/{task}.log",
    benchmark:
        "results/questions/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    params:
        spec=spec("draw_questions"),
        code=code("draw_questions"),
    script:
        "../workflow_scripts/draw_questions.py"


rule prepare_windows:
    input:
        model=rules.fetch_model.output.model,
        questions=rules.draw_questions.output.questions,
    output:
        windows="results/windows/{model}/{task}.h5",
    log:
        "logs/prepare_windows/{model}/{task}.log",
    benchmark:
        "results/windows/{model}/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    params:
        spec=spec("prepare_windows"),
        code=code("prepare_windows"),
    script:
        "../workflow_scripts/prepare_windows.py"


rule evaluate_condition:
    input:
        model=rules.fetch_model.output.model,
        partition="results/partitions/{model}/{partition}.csv",
        questions=of_task(rules.draw_questions.output.questions),
        windows=of_task(rules.prepare_windows.output.windows),
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
    params:
        spec=spec("evaluate_condition"),
        code=code("evaluate_condition"),
    script:
        "../workflow_scripts/evaluate_condition.py"


rule ablations:
    input:
        [f"results/ablation/{each.model}/{each.partition}/{each.condition}/metrics.json" for each in plan.ablations],
