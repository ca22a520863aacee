# What each head costs, and what tells its cost (heads in random company).


rule measure_costs:
    input:
        **inputs_by_key(
            company.measure_costs,
            partitions=paths_by_key(types.PARTITION.path, plan.partitions_of, "name"),
            **{
                file.name: paths_by_key(file.path, partial(plan.entries_of, analysis), "task")
                for analysis in ANALYSES
                if analysis.per_head and analysis.name != "company"
                for file in analysis.files
            },
            own=paths_by_key(own.VALUES.path, plan.own_analyses_of),
        ),
        sets=company.SETS.path,
    output:
        costs=company.COSTS.path,
        fit=company.FIT.path,
        labels=company.LABELS.path,
    log:
        "logs/measure_costs/{model}/{task}.log",
    benchmark:
        "results/company/{model}/{task}.costs.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs(company.measure_costs),
    params:
        **identity(company.measure_costs),
    script:
        CALL
