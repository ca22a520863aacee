# Tables and figures of Guan et al., "How Far Does BERT Look At" (COLING 2020), ours beside the published values.

# Relative to the working directory: a folder that was moved has the same inputs.
GUAN2020 = local(os.path.relpath(ROOT / "reference" / "guan2020.yaml"))

if workflow.is_main_process:
    # The processes of jobs read the rules as well, and need not read the paper's data each time.
    from headtypes.papers.guan2020.published import read_guan2020

    try:
        plan.check_published("guan2020", read_guan2020(GUAN2020).rows)
    except InputError as error:
        raise WorkflowError(str(error)) from None


rule tabulate_stability:
    input:
        partitions=of_each(paths.PARTITION, plan.clustered),
        stabilities=of_each(paths.STABILITY, plan.clustered),
        counted=of_each(paths.SAMPLES, plan.clustered),
        reference=GUAN2020,
    output:
        csv="results/guan2020/table1.csv",
        markdown="results/guan2020/table1.md",
        html=report(
            "results/guan2020/table1.html",
            caption="../report/table1.rst",
            category="Tables",
            labels={"table": "1", "content": "stability and shares of the types"},
        ),
    log:
        "logs/tabulate_stability.log",
    benchmark:
        "results/guan2020/stability.benchmark.tsv"
    localrule: True
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        **identity("tabulate_stability"),
    script:
        "../workflow_scripts/tabulate_stability.py"


rule tabulate_ablations:
    input:
        partitions=of_each(paths.PARTITION, plan.ablated),
        metrics=of_each(paths.METRICS, plan.tabulated),
        intervals=of_each(paths.INTERVALS, plan.ablated),
        controls=of_each(paths.CONTROLS, plan.controlled),
        scores=of_each(paths.SCORES, plan.controlled),
        baselines=of_each(
            paths.SCORES,
            [plan.baseline(ablation.model, ablation.partition) for ablation in plan.controlled],
        ),
        reference=GUAN2020,
    output:
        csv_2="results/guan2020/table2.csv",
        markdown_2="results/guan2020/table2.md",
        html_2=report(
            "results/guan2020/table2.html",
            caption="../report/table2.rst",
            category="Tables",
            labels={"table": "2", "content": "types left out or made uniform"},
        ),
        csv_3="results/guan2020/table3.csv",
        markdown_3="results/guan2020/table3.md",
        html_3=report(
            "results/guan2020/table3.html",
            caption="../report/table3.rst",
            category="Tables",
            labels={"table": "3", "content": "attention within and between sentences"},
        ),
    log:
        "logs/tabulate_ablations.log",
    benchmark:
        "results/guan2020/ablations.benchmark.tsv"
    localrule: True
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        **identity("tabulate_ablations"),
    script:
        "../workflow_scripts/tabulate_ablations.py"


rule tabulate_readings:
    input:
        partitions=of_each(paths.PARTITION, plan.ablated),
        metrics=of_each(paths.METRICS, plan.ablations),
        scores=of_each(paths.SCORES, plan.ablations),
        reference=GUAN2020,
    output:
        csv="results/guan2020/readings.csv",
        markdown="results/guan2020/readings.md",
        html=report(
            "results/guan2020/readings.html",
            caption="../report/readings.rst",
            category="Tables",
            labels={"table": "readings", "content": "the paper's claims under other readings"},
        ),
    log:
        "logs/tabulate_readings.log",
    benchmark:
        "results/guan2020/readings.benchmark.tsv"
    localrule: True
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        **identity("tabulate_readings"),
    script:
        "../workflow_scripts/tabulate_readings.py"


rule compare_with_guan:
    input:
        partitions=of_each(paths.PARTITION, plan.partitions.values()),
        stability=[rules.tabulate_stability.output.csv] if plan.clustered else [],
        ablations=(
            [rules.tabulate_ablations.output.csv_2, rules.tabulate_ablations.output.csv_3] if plan.ablations else []
        ),
        scores=of_each(paths.SCORES, plan.tabulated),
        choices=of_each(paths.CHOICE, plan.features),
        agreements=of_each(paths.CHOICE_AGREEMENT, plan.features),
        reference=GUAN2020,
    output:
        quantities="results/guan2020/quantities.csv",
        csv="results/guan2020/comparison.csv",
        markdown="results/guan2020/comparison.md",
        html=report(
            "results/guan2020/comparison.html",
            caption="../report/comparison.rst",
            category="Comparison",
            labels={"table": "comparison", "content": "ours beside the paper's, and its claims"},
        ),
    log:
        "logs/compare_with_guan.log",
    benchmark:
        "results/guan2020/comparison.benchmark.tsv"
    localrule: True
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        **identity("compare_with_guan"),
    script:
        "../workflow_scripts/compare_with_guan.py"


rule plot_heads:
    input:
        maps=of_task(paths.MAPS),
        features=of_task(paths.FEATURES),
        partition=paths.PARTITION,
    output:
        pdf="results/guan2020/{model}/{partition}/figure1.pdf",
        png=report(
            "results/guan2020/{model}/{partition}/figure1.png",
            caption="../report/figure1.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "1", "partition": "{partition}", "content": "typical heads"},
        ),
    log:
        "logs/plot_heads/{model}/{partition}.log",
    benchmark:
        "results/guan2020/{model}/{partition}/figure1.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_heads"),
    params:
        **identity("plot_heads"),
    script:
        "../workflow_scripts/plot_heads.py"


rule plot_projection:
    input:
        places=paths.EMBEDDING,
        partition=paths.PARTITION,
    output:
        pdf="results/guan2020/{model}/{partition}/figure2.pdf",
        png=report(
            "results/guan2020/{model}/{partition}/figure2.png",
            caption="../report/figure2.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "2", "partition": "{partition}", "content": "heads in the plane"},
        ),
    log:
        "logs/plot_projection/{model}/{partition}.log",
    benchmark:
        "results/guan2020/{model}/{partition}/figure2.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_projection"),
    params:
        **identity("plot_projection"),
    script:
        "../workflow_scripts/plot_projection.py"


rule plot_layers:
    input:
        partition=paths.PARTITION,
    output:
        pdf="results/guan2020/{model}/{partition}/figure3.pdf",
        png=report(
            "results/guan2020/{model}/{partition}/figure3.png",
            caption="../report/figure3.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "3", "partition": "{partition}", "content": "types by layer"},
        ),
    log:
        "logs/plot_layers/{model}/{partition}.log",
    benchmark:
        "results/guan2020/{model}/{partition}/figure3.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_layers"),
    params:
        **identity("plot_layers"),
    script:
        "../workflow_scripts/plot_layers.py"


rule tabulate_models:
    input:
        partitions=lambda wildcards: of_each(paths.PARTITION, plan.clustered_by(wildcards.clustering)),
    output:
        csv="results/guan2020/{clustering}/figure4.csv",
        layers="results/guan2020/{clustering}/figure4.layers.csv",
        pairs="results/compared/{clustering}/pairs.csv",
        types="results/compared/{clustering}/types.csv",
        heads="results/compared/{clustering}/heads.csv",
    log:
        "logs/tabulate_models/{clustering}.log",
    benchmark:
        "results/guan2020/{clustering}/figure4.table.benchmark.tsv"
    wildcard_constraints:
        clustering=any_of(plan.clusterings),
    localrule: True
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        **identity("tabulate_models"),
    script:
        "../workflow_scripts/tabulate_models.py"


rule plot_models:
    input:
        partitions=lambda wildcards: of_each(paths.PARTITION, plan.clustered_by(wildcards.clustering)),
        comparison=rules.tabulate_models.output.csv,
        reference=GUAN2020,
    output:
        pdf="results/guan2020/{clustering}/figure4.pdf",
        png=report(
            "results/guan2020/{clustering}/figure4.png",
            caption="../report/figure4.rst",
            category="Figures",
            subcategory="all models",
            labels={"figure": "4", "partition": "{clustering}", "content": "types by model"},
        ),
    log:
        "logs/plot_models/{clustering}.log",
    benchmark:
        "results/guan2020/{clustering}/figure4.benchmark.tsv"
    wildcard_constraints:
        clustering=any_of(plan.clusterings),
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_models"),
    params:
        **identity("plot_models"),
    script:
        "../workflow_scripts/plot_models.py"


rule plot_maps:
    input:
        maps=of_task(paths.MAPS),
        partition=paths.PARTITION,
    output:
        pdf="results/guan2020/{model}/{partition}/figure5.pdf",
        png=report(
            "results/guan2020/{model}/{partition}/figure5.png",
            caption="../report/figure5.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "5", "partition": "{partition}", "content": "every head"},
        ),
    log:
        "logs/plot_maps/{model}/{partition}.log",
    benchmark:
        "results/guan2020/{model}/{partition}/figure5.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_maps"),
    params:
        **identity("plot_maps"),
    script:
        "../workflow_scripts/plot_maps.py"


rule guan2020:
    input:
        rules.tabulate_stability.output if plan.clustered else [],
        rules.tabulate_ablations.output if plan.ablations else [],
        rules.tabulate_readings.output if plan.readings and plan.ablations else [],
        rules.compare_with_guan.output if plan.partitions else [],
        of_each(rules.plot_heads.output.png, plan.partitions.values()),
        of_each(rules.plot_projection.output.png, plan.partitions.values()),
        of_each(rules.plot_layers.output.png, plan.partitions.values()),
        of_each(rules.plot_maps.output.png, plan.partitions.values()),
        expand(rules.plot_models.output.png, clustering=plan.clusterings),
    localrule: True
