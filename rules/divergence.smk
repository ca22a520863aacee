# How differently heads attend, and the heads in the plane (Clark et al. 2019, section 6).


rule measure_divergence_shard:
    input:
        model=paths.MODEL,
        samples=paths.SAMPLES,
    output:
        divergence=temp(paths.DIVERGENCE_SHARD),
    log:
        "logs/measure_divergence_shard/{model}/{task}/{shard}-of-{shards}.log",
    benchmark:
        "results/shards/divergence/{model}/{task}/{shard}-of-{shards}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("measure_divergence_shard"),
    params:
        **identity("measure_divergence_shard"),
    script:
        "../workflow_scripts/measure_divergence_shard.py"


rule measure_divergence:
    input:
        model=paths.MODEL,
        samples=paths.SAMPLES,
        parts=parts_of("measure_divergence", "measure_divergence_shard"),
    output:
        divergence=paths.DIVERGENCE,
    log:
        "logs/measure_divergence/{model}/{task}.log",
    benchmark:
        "results/divergence/{model}/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("measure_divergence"),
    params:
        **identity("measure_divergence", shard="measure_divergence_shard"),
    script:
        "../workflow_scripts/measure_divergence.py"


rule project_heads:
    input:
        divergence=paths.DIVERGENCE,
    output:
        plane=paths.PLANE,
        fit=paths.PLANE_FIT,
    log:
        "logs/project_heads/{model}/{task}.log",
    benchmark:
        "results/divergence/{model}/{task}.plane.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("project_heads"),
    params:
        **identity("project_heads"),
    script:
        "../workflow_scripts/project_heads.py"


rule divergence:
    input:
        of_each(paths.PLANE, plan.texts),
    localrule: True
