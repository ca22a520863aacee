# How much a model's own loss depends on the attention to each kind of token (Clark et al. 2019, section 3.2).


use rule job as measure_gradients with:
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
    params:
        **identity("measure_gradients"),


rule gradients:
    input:
        of_each(paths.GRADIENTS, plan.gradients),
