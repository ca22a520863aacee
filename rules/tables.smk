# The paper's tables, ours beside the published figures.


localrules:
    tabulate_stability,
    tabulate_ablations,
    tabulate_readings,
    compare_with_guan,
    tables,


rule tabulate_stability:
    input:
        partitions=[f"results/partitions/{each.model}/{each.name}.csv" for each in clustered()],
        stabilities=[f"results/stability/{each.model}/{each.name}.json" for each in clustered()],
        reference=GUAN,
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
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        spec=spec("tabulate_stability"),
        code=code("tabulate_stability"),
    script:
        "../workflow_scripts/tabulate_stability.py"


rule tabulate_ablations:
    input:
        partitions=[f"results/partitions/{each.model}/{each.name}.csv" for each in plan.ablated],
        metrics=[f"results/ablation/{each.model}/{each.partition}/{each.name}/metrics.json" for each in plan.tabulated],
        intervals=[f"results/ablation/{each.model}/{each.name}/intervals.csv" for each in plan.ablated],
        controls=[f"results/controls/{each.model}/{each.partition}/{each.name}.parquet" for each in plan.controlled],
        scores=[scores_of(each) for each in plan.controlled],
        baselines=[baseline_of(each) for each in plan.controlled],
        reference=GUAN,
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
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        spec=spec("tabulate_ablations"),
        code=code("tabulate_ablations"),
    script:
        "../workflow_scripts/tabulate_ablations.py"


rule tabulate_readings:
    input:
        partitions=[f"results/partitions/{each.model}/{each.name}.csv" for each in plan.ablated],
        metrics=[f"results/ablation/{each.model}/{each.partition}/{each.name}/metrics.json" for each in plan.ablations],
        scores=[scores_of(each) for each in plan.ablations],
        reference=GUAN,
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
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        spec=spec("tabulate_readings"),
        code=code("tabulate_readings"),
    script:
        "../workflow_scripts/tabulate_readings.py"


rule compare_with_guan:
    input:
        partitions=[f"results/partitions/{each.model}/{each.name}.csv" for each in plan.partitions.values()],
        stability=[rules.tabulate_stability.output.csv] if clustered() else [],
        ablations=(
            [rules.tabulate_ablations.output.csv_2, rules.tabulate_ablations.output.csv_3] if plan.ablations else []
        ),
        scores=[scores_of(each) for each in plan.tabulated],
        choices=[f"results/choice/{model}/{task}.csv" for model, task in plan.features],
        reference=GUAN,
    output:
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
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        spec=spec("compare_with_guan"),
        code=code("compare_with_guan"),
    script:
        "../workflow_scripts/compare_with_guan.py"


rule tables:
    input:
        rules.tabulate_stability.output if clustered() else [],
        rules.tabulate_ablations.output if plan.ablations else [],
        rules.tabulate_readings.output if plan.readings and plan.ablations else [],
        rules.compare_with_guan.output if plan.partitions else [],
