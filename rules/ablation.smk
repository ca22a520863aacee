# What the model answers when heads are taken away (Guan et al. 2020, section 5), with random heads as controls.

# What a model answers a partition's task from.
ANSWERED = {
    "model": paths.MODEL,
    "partition": paths.PARTITION,
    "questions": of_task(paths.QUESTIONS),
    "windows": of_task(paths.WINDOWS),
}


use rule job as evaluate_shard with:
    input:
        **ANSWERED,
        head_outputs=head_outputs_of,
    output:
        found=temp(paths.ABLATION_SHARD),
    log:
        "logs/evaluate_shard/{model}/{partition}/{condition}/{shard}-of-{shards}.log",
    benchmark:
        "results/shards/ablation/{model}/{partition}/{condition}/{shard}-of-{shards}.benchmark.tsv"
    params:
        **identity("evaluate_shard"),


use rule job as evaluate_condition with:
    input:
        **ANSWERED,
        head_outputs=head_outputs_of,
        parts=parts_of("evaluate_condition", "evaluate_shard"),
    output:
        predictions=paths.PREDICTIONS,
        metrics=paths.METRICS,
        per_question=paths.SCORES,
    log:
        "logs/evaluate_condition/{model}/{partition}/{condition}.log",
    benchmark:
        "results/ablation/{model}/{partition}/{condition}/benchmark.tsv"
    params:
        **identity("evaluate_condition"),


use rule job as measure_intervals with:
    input:
        **keyed("measure_intervals", scores=each(paths.SCORES, plan.ablations_of, "name")),
    output:
        intervals=paths.INTERVALS,
    log:
        "logs/measure_intervals/{model}/{partition}.log",
    benchmark:
        "results/ablation/{model}/{partition}/intervals.benchmark.tsv"
    params:
        **identity("measure_intervals"),


use rule job as evaluate_controls with:
    input:
        **ANSWERED,
        scores=paths.SCORES,
        head_outputs=head_outputs_of,
    output:
        scores=paths.CONTROLS,
    log:
        "logs/evaluate_controls/{model}/{partition}/{condition}.log",
    benchmark:
        "results/controls/{model}/{partition}/{condition}.benchmark.tsv"
    params:
        **identity("evaluate_controls"),


use rule job as plot_controls with:
    input:
        **keyed(
            "plot_controls",
            controls=each(paths.CONTROLS, plan.controlled_of, "name"),
            scores=each(paths.SCORES, plan.controlled_of, "name"),
        ),
        baseline=of(paths.SCORES, plan.baseline),
        partition=paths.PARTITION,
    output:
        **figure("results/controls/{model}/{partition}", "controls", "controls", "types beside random heads"),
    log:
        "logs/plot_controls/{model}/{partition}.log",
    benchmark:
        "results/controls/{model}/{partition}.figure.benchmark.tsv"
    params:
        **identity("plot_controls"),


use rule job as measure_importance with:
    input:
        model=paths.MODEL,
        questions=paths.QUESTIONS,
        windows=paths.WINDOWS,
    output:
        importance=paths.IMPORTANCE,
    log:
        "logs/measure_importance/{model}/{task}.log",
    benchmark:
        "results/importance/{model}/{task}.benchmark.tsv"
    params:
        **identity("measure_importance"),


use rule job as evaluate_curves with:
    input:
        **ANSWERED,
        importance=of_task(paths.IMPORTANCE),
    output:
        curves=paths.CURVES,
    log:
        "logs/evaluate_curves/{model}/{partition}.log",
    benchmark:
        "results/curves/{model}/{partition}.benchmark.tsv"
    params:
        **identity("evaluate_curves"),


use rule job as plot_curves with:
    input:
        curves=paths.CURVES,
        partition=paths.PARTITION,
    output:
        **figure("results/curves/{model}/{partition}", "curves", "curves", "heads removed in growing sets"),
    log:
        "logs/plot_curves/{model}/{partition}.log",
    benchmark:
        "results/curves/{model}/{partition}.figure.benchmark.tsv"
    params:
        **identity("plot_curves"),


rule ablation:
    input:
        of_each(paths.METRICS, plan.ablations),
        of_each(paths.INTERVALS, plan.ablated),
        of_each(paths.CONTROLS, plan.controlled),
        of_each(rules.plot_controls.output.png, plan.beside_random_heads),
        of_each(rules.plot_curves.output.png, plan.curved),
