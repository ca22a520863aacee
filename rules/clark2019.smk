# Figures of Clark et al., "What Does BERT Look At?" (BlackboxNLP 2019), ours beside the published values.

# By its rule, each figure from what it shows of a model on a task, and what is written.
FIGURES_OF_TASK = {
    "plot_examples": (
        {"examples": paths.EXAMPLES},
        figure_of_clark("1", "examples of patterns"),
    ),
    "plot_surface": (
        {"surface": paths.SURFACE, "reference": REFERENCE["clark2019"]},
        {
            **figure_of_clark("2", "attention to special tokens and neighbours", "_2"),
            **figure_of_clark("4", "entropy of attention", "_4"),
        },
    ),
    "plot_gradients": (
        {"gradients": paths.GRADIENTS},
        figure_of_clark("3", "gradients by kind of token"),
    ),
    "plot_divergence": (
        {
            **keyed(
                "plot_divergence",
                relations=each(paths.RELATIONS_BEST, lambda model, task: plan.files_of(RELATIONS, model), "task"),
                coreference=each(paths.COREFERENCE, lambda model, task: plan.files_of(COREFERENCE, model), "task"),
            ),
            "projection": paths.PROJECTION,
            "fit": paths.PROJECTION_FIT,
            "surface": paths.SURFACE,
            "partition": of(paths.PARTITION, plan.shown_partition),
            "reference": REFERENCE["clark2019"],
        },
        figure_of_clark("6", "heads by their distances"),
    ),
    "plot_sentences": (
        {"model": paths.MODEL, "rows": paths.ROWS, "guesses": guesses_of, "best": best_of},
        figure_of_clark("5", "heads that find relations or antecedents"),
    ),
    "plot_outputs": (
        {"outputs": paths.OUTPUTS},
        {
            **figure("results/outputs/{model}/{task}", "outputs", "outputs", "what heads write", by="task"),
            "heads": paths.OUTPUTS_HEADS,
            "layers": paths.OUTPUTS_LAYERS,
        },
    ),
}

for name, (shown, written) in FIGURES_OF_TASK.items():

    rule:
        name:
            name
        input:
            **shown,
        output:
            **written,
        log:
            f"logs/{name}/{{model}}/{{task}}.log",
        benchmark:
            f"results/clark2019/{{model}}/{{task}}/{name}.benchmark.tsv"
        conda:
            ENVIRONMENT
        resources:
            **needs(name),
        params:
            **identity(name, (lambda wildcards: [REFERENCE["clark2019"]]) if "reference" in shown else None),
        script:
            CALL


rule clark2019:
    input:
        compared_with("clark2019"),
        files_of(plan, PAPERS["clark2019"].results),
