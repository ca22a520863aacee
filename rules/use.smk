# Whether heads that find a relation are used for it: the loss without this attention.


use rule job as measure_use with:
    input:
        model=paths.MODEL,
        arcs=paths.ARCS,
        rows=paths.ROWS,
        test=lambda wildcards: of_test(wildcards.task),
    output:
        losses=paths.USE_LOSSES,
    log:
        "logs/measure_use/{model}/{task}.log",
    benchmark:
        "results/use/{model}/{task}.losses.benchmark.tsv"
    params:
        **identity("measure_use"),


use rule job as tabulate_use with:
    input:
        losses=paths.USE_LOSSES,
        arcs=paths.ARCS,
        rows=paths.ROWS,
        test=lambda wildcards: of_test(wildcards.task),
    output:
        table=report(
            paths.USE,
            caption="../report/use.rst",
            category="Tables",
            labels={"table": "use", "content": "heads of {model} that find relations of {task}"},
        ),
    log:
        "logs/tabulate_use/{model}/{task}.log",
    benchmark:
        "results/use/{model}/{task}.benchmark.tsv"
    params:
        **identity("tabulate_use"),


use rule job as plot_use with:
    input:
        table=paths.USE,
    output:
        **figure("results/use/{model}/{task}", "use", "use", "what heads find, and what they are used for"),
    log:
        "logs/plot_use/{model}/{task}.log",
    benchmark:
        "results/use/{model}/{task}.figure.benchmark.tsv"
    params:
        **identity("plot_use"),


rule use:
    input:
        of_each(rules.plot_use.output.png, plan.used),
