# What the rules that compute have in common: `use rule job as ... with` gives each what is its own.

SCRIPT = "../workflow_scripts/{params.script}.py"


rule job:
    log:
        "logs/job.log",
    benchmark:
        "results/job.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **({"gpu_model": gpu_model} if GPU_MODEL else {}),
        mem_mb=lambda wildcards, input, attempt, rulename: resources.grown(
            needs(wildcards, input, rulename).mem_mb, attempt
        ),
        runtime=lambda wildcards, input, attempt, rulename: resources.grown(
            needs(wildcards, input, rulename).minutes, attempt
        ),
        gpu=gpus,
    params:
        script="job",
    script:
        SCRIPT


use rule job as local_job with:
    resources:
        gpu=0,


use rule job as job_on_samples with:
    input:
        model=paths.MODEL,
        samples=paths.SAMPLES,
