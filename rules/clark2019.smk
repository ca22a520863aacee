# Figures of Clark et al., "What Does BERT Look At?" (BlackboxNLP 2019), with our heads.

# {rule: (inputs, outputs)} of figures of one model on one task.
FIGURES_OF_TASK = {
    clark2019.plot_examples: (
        {"examples": clark2019.EXAMPLES.path},
        figure_of_clark("1", "examples of patterns"),
    ),
    clark2019.plot_surface: (
        {"surface": surface.PATTERNS.path, "reference": REFERENCE["clark2019"]},
        {
            **figure_of_clark("2", "attention to special tokens and neighbours", "_2"),
            **figure_of_clark("4", "entropy of attention", "_4"),
        },
    ),
    clark2019.plot_gradients: (
        {"gradients": gradients.TABLE.path},
        figure_of_clark("3", "gradients by kind of token"),
    ),
    clark2019.plot_divergence: (
        {
            **keyed(
                clark2019.plot_divergence,
                relations=each(relations.BEST.path, partial(plan.files_of, relations.RELATIONS), "task"),
                coreference=each(coreference.TABLE.path, partial(plan.files_of, coreference.COREFERENCE), "task"),
            ),
            "projection": divergence.PROJECTION.path,
            "fit": divergence.PROJECTION_FIT.path,
            "surface": surface.PATTERNS.path,
            "partition": of(types.PARTITION.path, plan.shown_partition),
            "reference": REFERENCE["clark2019"],
        },
        figure_of_clark("6", "heads by their distances"),
    ),
    clark2019.plot_sentences: (
        {"model": models.RECORD.path, "rows": data.ROWS.path, "guesses": guesses_of, "best": best_of},
        figure_of_clark("5", "heads that find relations or antecedents"),
    ),
    outputs.plot_outputs: (
        {"outputs": outputs.OUTPUTS.path},
        {
            **figure("results/outputs/{model}/{task}", "outputs", "outputs", "what heads write", by="task"),
            "heads": outputs.HEADS.path,
            "layers": outputs.LAYERS.path,
        },
    ),
}

for stage, (shown, written) in FIGURES_OF_TASK.items():

    rule:
        name:
            stage.name
        input:
            **shown,
        output:
            **written,
        log:
            f"logs/{stage.name}/{{model}}/{{task}}.log",
        benchmark:
            f"results/clark2019/{{model}}/{{task}}/{stage.name}.benchmark.tsv"
        conda:
            ENVIRONMENT
        resources:
            **needs(stage),
        params:
            **identity(stage, (lambda wildcards: [REFERENCE["clark2019"]]) if "reference" in shown else None),
        script:
            CALL


rule clark2019:
    input:
        compared_with("clark2019"),
        files_of(plan, PAPERS["clark2019"].results),
