# Figures of Clark et al., "What Does BERT Look At?" (BlackboxNLP 2019), ours beside the published values.


use rule job as map_examples with:
    input:
        model=paths.MODEL,
        samples=paths.SAMPLES,
        surface=paths.SURFACE,
    output:
        examples=paths.EXAMPLES,
    log:
        "logs/map_examples/{model}/{task}.log",
    benchmark:
        "results/examples/{model}/{task}.benchmark.tsv"
    params:
        **identity("map_examples"),


use rule job as plot_examples with:
    input:
        examples=paths.EXAMPLES,
    output:
        **figure_of_clark("1", "examples of patterns"),
    log:
        "logs/plot_examples/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure1.benchmark.tsv"
    params:
        **identity("plot_examples"),


use rule job as plot_surface with:
    input:
        surface=paths.SURFACE,
        reference=REFERENCE["clark2019"],
    output:
        **figure_of_clark("2", "attention to special tokens and neighbours", "_2"),
        **figure_of_clark("4", "entropy of attention", "_4"),
    log:
        "logs/plot_surface/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure2.benchmark.tsv"
    params:
        **identity("plot_surface"),


use rule job as plot_gradients with:
    input:
        gradients=paths.GRADIENTS,
    output:
        **figure_of_clark("3", "gradients by kind of token"),
    log:
        "logs/plot_gradients/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure3.benchmark.tsv"
    params:
        **identity("plot_gradients"),


use rule job as plot_divergence with:
    input:
        **keyed(
            "plot_divergence",
            relations=each(paths.RELATIONS_BEST, lambda model, task: plan.files_of(RELATIONS, model), "task"),
            coreference=each(paths.COREFERENCE, lambda model, task: plan.files_of(COREFERENCE, model), "task"),
        ),
        projection=paths.PROJECTION,
        fit=paths.PROJECTION_FIT,
        surface=paths.SURFACE,
        partition=of(paths.PARTITION, plan.shown_partition),
        reference=REFERENCE["clark2019"],
    output:
        **figure_of_clark("6", "heads by their distances"),
    log:
        "logs/plot_divergence/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure6.benchmark.tsv"
    params:
        **identity("plot_divergence"),


rule clark2019:
    input:
        compared_with("clark2019"),
        of_each(rules.plot_examples.output.png, plan.texts),
        of_each(rules.plot_surface.output.png_2, plan.texts),
        of_each(rules.plot_gradients.output.png, plan.gradients),
        of_each(rules.plot_divergence.output.png, plan.texts),
