# The paper's tables, ours beside the published figures.


localrules:
    tabulate_stability,
    tabulate_ablations,
    tables,


rule tabulate_stability:
    input:
        partitions=[f"results/partitions/{each.model}/{each.name}.csv" for each in clustered()],
        stabilities=[f"results/stability/{each.model}/{each.name}.json" for each in clustered()],
        reference=GUAN,
    output:
        csv="results/tables/table1.csv",
        markdown="results/tables/table1.md",
        html=report(
            "results/tables/table1.html",
            caption="../report/table1.rst",
            category="Tables",
            labels={"table": "1", "content": "stability and shares of the types"},
        ),
    log:
        "logs/tabulate_stability.log",
    benchmark:
        "results/tables/stability.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    params:
        spec=spec("tabulate_stability"),
        code=code("tabulate_stability"),
    script:
        "../workflow_scripts/tabulate_stability.py"


rule tabulate_ablations:
    input:
        partitions=[f"results/partitions/{each.model}/{each.name}.csv" for each in plan.ablated],
        metrics=rules.ablations.input,
        reference=GUAN,
    output:
        csv_2="results/tables/table2.csv",
        markdown_2="results/tables/table2.md",
        html_2=report(
            "results/tables/table2.html",
            caption="../report/table2.rst",
            category="Tables",
            labels={"table": "2", "content": "types left out or made uniform"},
        ),
        csv_3="results/tables/table3.csv",
        markdown_3="results/tables/table3.md",
        html_3=report(
            "results/tables/table3.html",
            caption="../report/table3.rst",
            category="Tables",
            labels={"table": "3", "content": "attention within and between sentences"},
        ),
    log:
        "logs/tabulate_ablations.log",
    benchmark:
        "results/tables/ablations.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    params:
        spec=spec("tabulate_ablations"),
        code=code("tabulate_ablations"),
    script:
        "../workflow_scripts/tabulate_ablations.py"


rule tables:
    input:
        rules.tabulate_stability.output if clustered() else [],
        rules.tabulate_ablations.output if plan.ablations else [],
