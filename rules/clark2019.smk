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


rule map_examples:
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
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("map_examples"),
    params:
        **identity("map_examples"),
    script:
        "../workflow_scripts/map_examples.py"


rule plot_examples:
    input:
        examples=paths.EXAMPLES,
    output:
        pdf="results/clark2019/{model}/{task}/figure1.pdf",
        png=report(
            "results/clark2019/{model}/{task}/figure1.png",
            caption="../report/clark_figure1.rst",
            category="Figures of Clark et al.",
            subcategory="{model}",
            labels={"figure": "1", "task": "{task}", "content": "examples of patterns"},
        ),
    log:
        "logs/plot_examples/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure1.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_examples"),
    params:
        **identity("plot_examples"),
    script:
        "../workflow_scripts/plot_examples.py"


rule plot_surface:
    input:
        surface=paths.SURFACE,
        reference=CLARK2019,
    output:
        pdf_2="results/clark2019/{model}/{task}/figure2.pdf",
        png_2=report(
            "results/clark2019/{model}/{task}/figure2.png",
            caption="../report/clark_figure2.rst",
            category="Figures of Clark et al.",
            subcategory="{model}",
            labels={"figure": "2", "task": "{task}", "content": "attention to special tokens and neighbours"},
        ),
        pdf_4="results/clark2019/{model}/{task}/figure4.pdf",
        png_4=report(
            "results/clark2019/{model}/{task}/figure4.png",
            caption="../report/clark_figure4.rst",
            category="Figures of Clark et al.",
            subcategory="{model}",
            labels={"figure": "4", "task": "{task}", "content": "entropy of attention"},
        ),
    log:
        "logs/plot_surface/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure2.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_surface"),
    params:
        **identity("plot_surface"),
    script:
        "../workflow_scripts/plot_surface.py"


rule plot_gradients:
    input:
        gradients=paths.GRADIENTS,
    output:
        pdf="results/clark2019/{model}/{task}/figure3.pdf",
        png=report(
            "results/clark2019/{model}/{task}/figure3.png",
            caption="../report/clark_figure3.rst",
            category="Figures of Clark et al.",
            subcategory="{model}",
            labels={"figure": "3", "task": "{task}", "content": "gradients by kind of token"},
        ),
    log:
        "logs/plot_gradients/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure3.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_gradients"),
    params:
        **identity("plot_gradients"),
    script:
        "../workflow_scripts/plot_gradients.py"


rule plot_plane:
    input:
        plane=paths.PLANE,
        fit=paths.PLANE_FIT,
        surface=paths.SURFACE,
        partition=shown_partition,
        relations=of_analysis(RELATIONS, paths.RELATIONS_BEST),
        coreference=of_analysis(COREFERENCE),
        reference=CLARK2019,
    output:
        pdf="results/clark2019/{model}/{task}/figure6.pdf",
        png=report(
            "results/clark2019/{model}/{task}/figure6.png",
            caption="../report/clark_figure6.rst",
            category="Figures of Clark et al.",
            subcategory="{model}",
            labels={"figure": "6", "task": "{task}", "content": "heads by their distances"},
        ),
    log:
        "logs/plot_plane/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure6.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_plane"),
    params:
        **identity("plot_plane"),
    script:
        "../workflow_scripts/plot_plane.py"


rule compare_with_clark:
    input:
        surfaces=of_each(paths.SURFACE, plan.texts),
        gradients=of_each(paths.GRADIENTS, [entry for entry in plan.texts if entry in plan.gradients]),
        fits=of_each(paths.PLANE_FIT, plan.texts),
        arcs=of_each(paths.ARCS, plan.inputs_of("treebank")),
        sentences=of_each(paths.ROWS, plan.inputs_of("treebank")),
        tests=expand(paths.TEST_ROWS, task=[task for task in plan.tasks_of("treebank") if plan.files.of_test(task)]),
        probes=of_each(paths.PROBES, plan.probed),
        antecedents=of_each(paths.ANTECEDENTS, plan.inputs_of("coreference")),
        documents=of_each(paths.ROWS, plan.inputs_of("coreference")),
        reference=CLARK2019,
    output:
        quantities="results/clark2019/quantities.csv",
        csv="results/clark2019/comparison.csv",
        markdown="results/clark2019/comparison.md",
        html=report(
            "results/clark2019/comparison.html",
            caption="../report/clark_comparison.rst",
            category="Comparison",
            labels={"table": "Clark et al. 2019", "content": "ours beside the paper's, and its claims"},
        ),
    log:
        "logs/compare_with_clark.log",
    benchmark:
        "results/clark2019/comparison.benchmark.tsv"
    localrule: True
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        **identity("compare_with_clark"),
    script:
        "../workflow_scripts/compare_with_clark.py"


rule clark2019:
    input:
        rules.compare_with_clark.output
        if plan.texts + plan.inputs_of("treebank") + plan.inputs_of("coreference")
        else [],
        of_each(rules.plot_examples.output.png, plan.texts),
        of_each(rules.plot_surface.output.png_2, plan.texts),
        of_each(rules.plot_gradients.output.png, plan.gradients),
        of_each(rules.plot_plane.output.png, plan.texts),
    localrule: True
