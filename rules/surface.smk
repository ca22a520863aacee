# What single heads look at, as position and kind of token tell (Clark et al. 2019, sections 3.1 to 3.3).


rule measure_surface:
    input:
        model=paths.MODEL,
        samples=paths.SAMPLES,
    output:
        surface=paths.SURFACE,
    log:
        "logs/measure_surface/{model}/{task}.log",
    benchmark:
        "results/surface/{model}/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("measure_surface"),
    params:
        **identity("measure_surface"),
    script:
        "../workflow_scripts/measure_surface.py"


rule surface:
    input:
        of_each(paths.SURFACE, plan.texts),
    localrule: True
