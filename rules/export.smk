# Lists of heads for other programs.


rule export_heads:
    input:
        partition=paths.PARTITION,
        confidence=of_clustered(paths.CONFIDENCE),
        naming=of_clustered(paths.NAMING),
        # Where heads are counted by their keys, it says which heads of queries each one has.
        model=lambda wildcards: [] if plan.config.models[wildcards.model].units == "heads" else paths.MODEL,
    output:
        list="results/export/{model}/{partition}/heads.json",
        masks="results/export/{model}/{partition}/masks.safetensors",
        table="results/export/{model}/{partition}/heads.csv",
    log:
        "logs/export_heads/{model}/{partition}.log",
    benchmark:
        "results/export/{model}/{partition}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("export_heads"),
    params:
        **identity("export_heads"),
    script:
        "../workflow_scripts/export_heads.py"


rule measure_reach:
    input:
        model=paths.MODEL,
        samples=paths.SAMPLES,
    output:
        reach=paths.REACH,
    log:
        "logs/measure_reach/{model}/{task}.log",
    benchmark:
        "results/reach/{model}/{task}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("measure_reach"),
    params:
        **identity("measure_reach"),
    script:
        "../workflow_scripts/measure_reach.py"


rule export_full_attention:
    input:
        reach=of_task(paths.REACH),
    output:
        pattern="results/export/{model}/{partition}/full_attention_heads.tsv",
        sizes="results/export/{model}/{partition}/config.json",
        table="results/export/{model}/{partition}/full_attention_heads.csv",
    log:
        "logs/export_full_attention/{model}/{partition}.log",
    benchmark:
        "results/export/{model}/{partition}.full_attention.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("export_full_attention"),
    params:
        **identity("export_full_attention"),
    script:
        "../workflow_scripts/export_full_attention.py"


rule measure_key_values:
    input:
        model=paths.MODEL,
        planted=expand(paths.ROWS, task=plan.planted),
    output:
        pattern="results/key_values/{model}/full_attention_heads.tsv",
        sizes="results/key_values/{model}/config.json",
        table="results/key_values/{model}/full_attention_heads.csv",
    log:
        "logs/measure_key_values/{model}.log",
    benchmark:
        "results/key_values/{model}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("measure_key_values"),
    params:
        **identity("measure_key_values"),
    script:
        "../workflow_scripts/measure_key_values.py"


rule export:
    input:
        of_each(rules.export_heads.output.list, plan.partitions.values()),
        of_each(rules.export_full_attention.output.pattern, plan.cached),
        of_each(rules.measure_key_values.output.pattern, plan.dropped),
