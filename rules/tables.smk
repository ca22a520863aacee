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
    log:
        "logs/tabulate_stability.log",
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
        csv_3="results/tables/table3.csv",
        markdown_3="results/tables/table3.md",
    log:
        "logs/tabulate_ablations.log",
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
