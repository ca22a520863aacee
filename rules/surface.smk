# What single heads look at, as position and kind of token tell (Clark et al. 2019, sections 3.1 to 3.3).


use rule job_on_samples as measure_surface with:
    output:
        surface=paths.SURFACE,
    log:
        "logs/measure_surface/{model}/{task}.log",
    benchmark:
        "results/surface/{model}/{task}.benchmark.tsv"
    params:
        **identity("measure_surface"),


rule surface:
    input:
        of_each(paths.SURFACE, plan.texts),
