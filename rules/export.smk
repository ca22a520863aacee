# Lists of heads for other programs.


use rule job as export_heads with:
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
    params:
        **identity("export_heads"),


use rule job_on_samples as measure_reach with:
    output:
        reach=paths.REACH,
    log:
        "logs/measure_reach/{model}/{task}.log",
    benchmark:
        "results/reach/{model}/{task}.benchmark.tsv"
    params:
        **identity("measure_reach"),


use rule job as export_full_attention with:
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
    params:
        **identity("export_full_attention"),


use rule job as measure_key_values with:
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
    params:
        **identity("measure_key_values"),


rule export:
    input:
        of_each(rules.export_heads.output.list, plan.partitions.values()),
        of_each(rules.export_full_attention.output.pattern, plan.cached),
        of_each(rules.measure_key_values.output.pattern, plan.dropped),
