# Whether heads that find a relation or an antecedent are used for it: the loss without this attention.


rule measure_use:
    input:
        model=paths.MODEL,
        guesses=guesses_of,
        searched=paths.ROWS,
        test=lambda wildcards: of_test(wildcards.task),
        texts=texts_of_use,
        windows=windows_of_use,
    output:
        losses=paths.USE_LOSSES,
    log:
        "logs/measure_use/{model}/{task}.log",
    benchmark:
        "results/use/{model}/{task}.losses.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("measure_use"),
    params:
        **identity("measure_use"),
    script:
        "../workflow_scripts/measure_use.py"


rule tabulate_use:
    input:
        losses=paths.USE_LOSSES,
        guesses=guesses_of,
        searched=paths.ROWS,
        test=lambda wildcards: of_test(wildcards.task),
    output:
        table=entry(paths.USE, "use", "Tables", "what heads of {model} find of {task}", table="use"),
    log:
        "logs/tabulate_use/{model}/{task}.log",
    benchmark:
        "results/use/{model}/{task}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("tabulate_use"),
    params:
        **identity("tabulate_use"),
    script:
        "../workflow_scripts/tabulate_use.py"


rule plot_use:
    input:
        table=paths.USE,
    output:
        **figure("results/use/{model}/{task}", "use", "use", "what heads find, and what they are used for"),
    log:
        "logs/plot_use/{model}/{task}.log",
    benchmark:
        "results/use/{model}/{task}.figure.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("plot_use"),
    params:
        **identity("plot_use"),
    script:
        "../workflow_scripts/plot_use.py"


rule use:
    input:
        of_each(rules.plot_use.output.png, plan.used),
