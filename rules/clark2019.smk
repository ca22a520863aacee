# Figures of Clark et al., "What Does BERT Look At?" (BlackboxNLP 2019), and its claims, ours beside the published values.

# Relative to the working directory: a folder that was moved has the same inputs.
CLARK2019 = local(os.path.relpath(ROOT / "reference" / "clark2019.yaml"))

if workflow.is_main_process:
    # The processes of jobs read the rules as well, and need not read the paper's data each time.
    from headtypes.papers.clark2019.published import read_clark2019

    try:
        plan.check_published("clark2019", read_clark2019(CLARK2019).rows)
    except InputError as error:
        raise WorkflowError(str(error)) from None


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
        **figure("results/clark2019/{model}/{task}/figure1", "clark_figure1", "1", "examples of patterns", OF_CLARK),
    log:
        "logs/plot_examples/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure1.benchmark.tsv"
    params:
        **identity("plot_examples"),


use rule job as plot_surface with:
    input:
        surface=paths.SURFACE,
        reference=CLARK2019,
    output:
        **figure(
            "results/clark2019/{model}/{task}/figure2",
            "clark_figure2",
            "2",
            "attention to special tokens and neighbours",
            OF_CLARK,
            suffix="_2",
        ),
        **figure(
            "results/clark2019/{model}/{task}/figure4",
            "clark_figure4",
            "4",
            "entropy of attention",
            OF_CLARK,
            suffix="_4",
        ),
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
        **figure(
            "results/clark2019/{model}/{task}/figure3", "clark_figure3", "3", "gradients by kind of token", OF_CLARK
        ),
    log:
        "logs/plot_gradients/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure3.benchmark.tsv"
    params:
        **identity("plot_gradients"),


use rule job as plot_plane with:
    input:
        **keyed(
            "plot_plane",
            relations=each(paths.RELATIONS_BEST, lambda model, task: plan.files_of(RELATIONS, model), "task"),
            coreference=each(paths.COREFERENCE, lambda model, task: plan.files_of(COREFERENCE, model), "task"),
        ),
        plane=paths.PLANE,
        fit=paths.PLANE_FIT,
        surface=paths.SURFACE,
        partition=of(paths.PARTITION, plan.shown_partition),
        reference=CLARK2019,
    output:
        **figure("results/clark2019/{model}/{task}/figure6", "clark_figure6", "6", "heads by their distances", OF_CLARK),
    log:
        "logs/plot_plane/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure6.benchmark.tsv"
    params:
        **identity("plot_plane"),


use rule local_job as compare_with_clark with:
    input:
        **keyed(
            "compare_with_clark",
            surfaces=each(paths.SURFACE, plan.texts),
            gradients=each(paths.GRADIENTS, [entry for entry in plan.texts if entry in plan.gradients]),
            fits=each(paths.PLANE_FIT, plan.texts),
            arcs=each(paths.ARCS, plan.inputs_of("treebank")),
            sentences=each(paths.ROWS, plan.inputs_of("treebank")),
            tests={task: of_test(task) for task in plan.tasks_of("treebank") if plan.files.of_test(task)},
            probes=each(paths.PROBES, plan.probed),
            antecedents=each(paths.ANTECEDENTS, plan.inputs_of("coreference")),
            documents=each(paths.ROWS, plan.inputs_of("coreference")),
        ),
        reference=CLARK2019,
    output:
        **table(
            "results/clark2019/comparison",
            "clark_comparison",
            "Clark et al. 2019",
            "ours beside the paper's, and its claims",
            category="Comparison",
        ),
        quantities="results/clark2019/quantities.csv",
    log:
        "logs/compare_with_clark.log",
    benchmark:
        "results/clark2019/comparison.benchmark.tsv"
    localrule: True
    params:
        **identity("compare_with_clark"),


rule clark2019:
    input:
        rules.compare_with_clark.output
        if plan.texts + plan.inputs_of("treebank") + plan.inputs_of("coreference")
        else [],
        of_each(rules.plot_examples.output.png, plan.texts),
        of_each(rules.plot_surface.output.png_2, plan.texts),
        of_each(rules.plot_gradients.output.png, plan.gradients),
        of_each(rules.plot_plane.output.png, plan.texts),
