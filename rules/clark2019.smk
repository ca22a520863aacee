# Figures and tables of Clark et al., "What Does BERT Look At?" (BlackboxNLP 2019), ours beside the published values.


rule plot_text:
    input:
        **keyed(
            "plot_text",
            relations=each(paths.RELATIONS_BEST, lambda model, task: plan.files_of(RELATIONS, model), "task"),
            coreference=each(paths.COREFERENCE, lambda model, task: plan.files_of(COREFERENCE, model), "task"),
        ),
        gradients=lambda wildcards: paths.GRADIENTS.format(**wildcards) if plan.has_gradients else [],
        examples=paths.EXAMPLES,
        surface=paths.SURFACE,
        divergence=paths.DIVERGENCE,
        outputs=paths.OUTPUTS,
        partition=of(paths.PARTITION, plan.shown_partition),
        reference=REFERENCE["clark2019"],
    output:
        **figure_of_clark("1", "examples of patterns", "_1"),
        **figure_of_clark("2", "attention to special tokens and neighbours", "_2"),
        **(figure_of_clark("3", "gradients by kind of token", "_3") if plan.has_gradients else {}),
        **figure_of_clark("4", "entropy of attention", "_4"),
        **figure_of_clark("6", "heads by their distances", "_6"),
        **figure("results/outputs/{model}/{task}", "outputs", "outputs", "what heads write", suffix="_outputs"),
        projection=paths.PROJECTION,
        fit=paths.PROJECTION_FIT,
        heads=paths.OUTPUTS_HEADS,
        layers=paths.OUTPUTS_LAYERS,
    log:
        "logs/plot_text/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figures.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("plot_text"),
    params:
        **identity("plot_text", lambda wildcards: [REFERENCE["clark2019"]]),
    script:
        CALL


rule plot_gradients:
    input:
        gradients=paths.GRADIENTS,
    output:
        **figure_of_clark("3", "gradients by kind of token"),
    log:
        "logs/plot_gradients/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure3.benchmark.tsv"
    wildcard_constraints:
        task=any_of(task for task in plan.config.tasks if not plan.is_text(task)),
    conda:
        ENVIRONMENT
    resources:
        **needs("plot_gradients"),
    params:
        **identity("plot_gradients"),
    script:
        CALL


CLARK_TABLES = tables(
    "clark2019",
    "Tables of Clark et al.",
    table1=("clark_table1", "dependency relations", plan.inputs_of("treebank"), "tex"),
    table2=("clark_table2", "coreference", plan.inputs_of("coreference"), "tex"),
    table3=("clark_table3", "probes", plan.probed, "tex"),
)


rule tabulate_clark2019:
    input:
        **keyed(
            "tabulate_clark2019",
            best=each(paths.RELATIONS_BEST, plan.inputs_of("treebank")),
            accuracies=each(paths.COREFERENCE, plan.inputs_of("coreference")),
            scores=each(paths.PROBE_SCORES, plan.probed),
            probes=each(paths.PROBES, plan.probed),
        ),
        reference=REFERENCE["clark2019"],
    output:
        **CLARK_TABLES,
    log:
        "logs/tabulate_clark2019.log",
    benchmark:
        "results/clark2019/tables.benchmark.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **identity("tabulate_clark2019", lambda wildcards: [REFERENCE["clark2019"]]),
    script:
        CALL


rule plot_sentences:
    input:
        model=paths.MODEL,
        rows=paths.ROWS,
        guesses=guesses_of,
        best=best_of,
    output:
        **figure_of_clark("5", "heads that find relations or antecedents"),
    log:
        "logs/plot_sentences/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure5.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("plot_sentences"),
    params:
        **identity("plot_sentences"),
    script:
        CALL


rule clark2019:
    input:
        compared_with("clark2019"),
        of_each(rules.plot_text.output.png_1, plan.texts),
        of_each(rules.plot_gradients.output.png, [it for it in plan.gradients if not plan.is_text(it.task)]),


# Of these, what single heads know of language.
rule language:
    input:
        list(CLARK_TABLES.values()),
        of_each(rules.plot_sentences.output.png, plan.inputs_of("treebank") + plan.inputs_of("coreference")),
