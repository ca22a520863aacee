# Analyses of a user's own, each a file that the config names: a pass of the model for each, and a figure.


rule read_analysis:
    input:
        **inputs_by_key(own.read_analysis, own=inputs_of_analysis),
        model=models.RECORD.path,
        samples=data.SAMPLES.path,
    output:
        own=own.VALUES.path,
    log:
        "logs/read_analysis/{analysis}/{model}/{task}.log",
    benchmark:
        "results/{analysis}/{model}/{task}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs(own.read_analysis),
    params:
        **identity(own.read_analysis, lambda wildcards: plan.analysis_files(wildcards.analysis).values()),
    script:
        CALL


rule plot_analysis:
    input:
        own=own.VALUES.path,
        partition=path_of(types.PARTITION.path, lambda analysis, model, task: plan.shown_partition(model, task)),
    output:
        **figure("results/{analysis}/{model}/{task}", "own", "{analysis}", "heads by layer and type", by="task"),
    log:
        "logs/plot_analysis/{analysis}/{model}/{task}.log",
    benchmark:
        "results/{analysis}/{model}/{task}.figure.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs(own.plot_analysis),
    params:
        **identity(own.plot_analysis),
    script:
        CALL
