# The tables of each paper, and its published values and claims next to our results.

# Relative to the working directory: a folder that was moved has the same inputs.
REFERENCE = {name: of_user([os.path.relpath(ROOT / "reference" / f"{name}.yaml")])[0] for name in PAPERS}

if workflow.is_main_process:
    # Processes of jobs read the rules as well, but need not read the papers' data each time. Nor is a paper read that no
    # model names: to load the code of its claims takes a second.
    try:
        for name, paper in PAPERS.items():
            if any(name in model.published for model in plan.config.models.values()):
                plan.check_published(name, paper.published.read(REFERENCE[name]).rows)
    except InputError as error:
        raise WorkflowError(str(error)) from None


# {rule: (paper, inputs, outputs)}; an input is {key: path}. A table that would be empty has no rule.
TABLES = {
    guan2020.tabulate_types: (
        "guan2020",
        {
            "partitions": each(types.PARTITION.path, plan.clustered),
            "stabilities": each(types.STABILITY.path, plan.clustered),
            "counted": each(data.SAMPLES.path, plan.clustered),
        },
        table_of_guan("1", "stability and shares of the types", ["tex"]),
    ),
    guan2020.tabulate_ablations: (
        "guan2020",
        {
            "partitions": each(types.PARTITION.path, plan.ablated),
            "metrics": each(ablation.METRICS.path, plan.tabulated),
            "intervals": each(ablation.INTERVALS.path, plan.ablated),
            "scores": each(
                ablation.SCORES.path, [*plan.controlled, *(plan.baseline(*it.key) for it in plan.beside_random_heads)]
            ),
            "controls": each(ablation.CONTROLS.path, plan.controlled),
        },
        {
            **table_of_guan("2", "types left out or made uniform", ["tex", "all.csv"], "_2"),
            **table_of_guan("3", "attention within and between sentences", ["tex", "all.csv"], "_3"),
        },
    ),
    guan2020.tabulate_readings: (
        "guan2020",
        {
            "partitions": each(types.PARTITION.path, plan.ablated),
            "scores": each(ablation.SCORES.path, plan.ablations),
        },
        table("results/guan2020/readings", "readings", "readings", "the paper's claims under other readings"),
    ),
    clark2019.tabulate_relations: (
        "clark2019",
        {"best": each(relations.BEST.path, plan.inputs_of("treebank"))},
        table_of_clark("1", "dependency relations"),
    ),
    clark2019.tabulate_coreference: (
        "clark2019",
        {"accuracies": each(coreference.TABLE.path, plan.inputs_of("coreference"))},
        table_of_clark("2", "coreference"),
    ),
    clark2019.tabulate_probes: (
        "clark2019",
        {"scores": each(probes.SCORES.path, plan.probed), "probes": each(probes.WORDS.path, plan.probed)},
        table_of_clark("3", "probes"),
    ),
}

for stage, (paper, shown, written) in TABLES.items():
    if any(result.of(plan) for result in RESULTS if result.rule == stage.name):

        rule:
            name:
                stage.name
            input:
                **keyed(stage, **shown),
                reference=REFERENCE[paper],
            output:
                **written,
            log:
                f"logs/{stage.name}.log",
            benchmark:
                f"results/{paper}/{stage.name}.benchmark.tsv"
            localrule: True
            conda:
                ENVIRONMENT
            params:
                **identity(stage, lambda wildcards, paper=paper: [REFERENCE[paper]]),
            script:
                CALL


rule compare_with_paper:
    input:
        **keyed(papers.compare_with_paper, results=lambda wildcards: PAPERS[wildcards.paper].inputs(plan)),
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
