# The tables and figures of each paper with our heads, and its published values and claims next to our results.

REFERENCE = {name: of_user(reference_of(name)) for name in PAPERS}

if workflow.is_main_process:
    # Processes of jobs read the rules as well, but need not read the papers' data each time. Nor is a paper read that no
    # model names: to load the code of its claims takes a second.
    try:
        for name, paper in PAPERS.items():
            if any(name in model.published for model in plan.config.models.values()):
                check_published(plan.config, name, paper.published.read(REFERENCE[name]).rows)
    except InputError as error:
        raise WorkflowError(str(error)) from None

OF_PARTITION, OF_TASK = "results/guan2020/{model}/{partition}", "results/clark2019/{model}/{task}"
# {rule: (benchmark without its ending, inputs, outputs)}
FIGURES = {
    guan2020.plot_partition: (
        f"{OF_PARTITION}/figures",
        {
            "maps": path_of(distances.SHORT_SAMPLE.path, plan.partition),
            "features": path_of(distances.FEATURES.path, plan.partition),
            "partition": types.PARTITION.path,
        },
        {
            **figure_of_partition("1", "typical heads"),
            **figure_of_partition("2", "heads in two dimensions"),
            **figure_of_partition("3", "types by layer"),
            **figure_of_partition("5", "every head"),
            "places": types.EMBEDDING.path,
        },
    ),
    guan2020.compare_models: (
        "results/guan2020/{clustering}/figure4",
        inputs_by_key(
            guan2020.compare_models, partitions=paths_by_key(types.PARTITION.path, plan.clustered_by, "subject")
        ),
        {
            **figure("results/guan2020/{clustering}/figure4", "figure4", "4", "types by model"),
            "csv": "results/guan2020/{clustering}/figure4.csv",
            "layers": "results/guan2020/{clustering}/figure4.layers.csv",
            **{name: f"results/compared/{{clustering}}/{name}.csv" for name in ("pairs", "types", "heads")},
        },
    ),
    clark2019.plot_examples: (
        f"{OF_TASK}/plot_examples",
        {"examples": clark2019.EXAMPLES.path},
        figure_of_clark("1", "examples of patterns"),
    ),
    clark2019.plot_surface: (
        f"{OF_TASK}/plot_surface",
        {"surface": surface.PATTERNS.path, "reference": REFERENCE["clark2019"]},
        {
            **figure_of_clark("2", "attention to special tokens and neighbours", "_2"),
            **figure_of_clark("4", "entropy of attention", "_4"),
        },
    ),
    clark2019.plot_gradients: (
        f"{OF_TASK}/plot_gradients",
        {"gradients": gradients.TABLE.path},
        figure_of_clark("3", "gradients by kind of token"),
    ),
    clark2019.plot_divergence: (
        f"{OF_TASK}/plot_divergence",
        {
            **inputs_by_key(
                clark2019.plot_divergence,
                relations=paths_by_key(relations.BEST.path, partial(plan.entries_of, relations.RELATIONS), "task"),
                coreference=paths_by_key(
                    coreference.TABLE.path, partial(plan.entries_of, coreference.COREFERENCE), "task"
                ),
            ),
            "projection": divergence.PROJECTION.path,
            "fit": divergence.PROJECTION_FIT.path,
            "surface": surface.PATTERNS.path,
            "partition": path_of(types.PARTITION.path, plan.shown_partition),
            "reference": REFERENCE["clark2019"],
        },
        figure_of_clark("6", "heads by their distances"),
    ),
    clark2019.plot_sentences: (
        f"{OF_TASK}/plot_sentences",
        {
            "model": models.RECORD.path,
            "rows": data.ROWS.path,
            "guesses": by_kind(relations.ARCS, coreference.ANTECEDENTS),
            "best": by_kind(relations.BEST, coreference.TABLE),
        },
        figure_of_clark("5", "heads that find relations or antecedents"),
    ),
    outputs.plot_outputs: (
        f"{OF_TASK}/plot_outputs",
        {"outputs": outputs.OUTPUTS.path},
        {
            **figure("results/outputs/{model}/{task}", "outputs", "outputs", "what heads write", by="task"),
            "heads": outputs.HEADS.path,
            "layers": outputs.LAYERS.path,
        },
    ),
}

for stage, (benchmark, shown, written) in FIGURES.items():

    rule:
        name:
            stage.name
        input:
            **shown,
        output:
            **written,
        log:
            Path("logs", stage.name, *re.findall(r"\{\w+\}", benchmark)).with_suffix(".log").as_posix(),
        benchmark:
            f"{benchmark}.benchmark.tsv"
        conda:
            ENVIRONMENT
        resources:
            **needs(stage),
        params:
            **identity(stage, (lambda wildcards, file=shown["reference"]: [file]) if "reference" in shown else None),
        script:
            CALL


rule compare_with_paper:
    input:
        **inputs_by_key(papers.compare_with_paper, results=lambda wildcards: PAPERS[wildcards.paper].inputs(plan)),
        reference=lambda wildcards: REFERENCE[wildcards.paper],
    output:
        **table(
            "results/{paper}/comparison",
            "comparison",
            "{paper}",
            "ours beside the paper's, and its claims",
            "Comparison",
        ),
        quantities="results/{paper}/quantities.csv",
    log:
        "logs/compare_with_paper/{paper}.log",
    benchmark:
        "results/{paper}/comparison.benchmark.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **identity(papers.compare_with_paper, lambda wildcards: [REFERENCE[wildcards.paper]]),
    script:
        CALL


rule guan2020:
    input:
        compared_with("guan2020"),
        files_of(plan, PAPERS["guan2020"].results),


rule clark2019:
    input:
        compared_with("clark2019"),
        files_of(plan, PAPERS["clark2019"].results),
