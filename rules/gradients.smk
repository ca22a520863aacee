# How much a model's own loss depends on the attention to each kind of token (Clark et al. 2019, section 3.2).


rule measure_gradients:
    input:
        model=paths.MODEL,
        texts=texts_of_gradients,
        windows=windows_of_gradients,
    output:
        gradients=paths.GRADIENTS,
    log:
        "logs/measure_gradients/{model}/{task}.log",
    benchmark:
        "results/gradients/{model}/{task}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("measure_gradients"),
    params:
        **identity("measure_gradients"),
    script:
        CALL


rule gradients:
    input:
        of_each(paths.GRADIENTS, plan.gradients),
