# What is read of the attention on samples: how far, and at which tokens, each head looks (Guan et al. 2020, section 3),
# maps of a few samples and, on texts, what single heads look at and write (Clark et al. 2019, sections 3 and 6). And how
# much a model's own loss depends on the attention to each kind of token (section 3.2).


rule extract_features:
    input:
        model=paths.MODEL,
        samples=paths.SAMPLES,
    output:
        features=paths.FEATURES,
        same_word=paths.SAME_WORD,
        maps=paths.MAPS,
        samples=paths.SAMPLE_MAPS,
    log:
        "logs/extract_features/{model}/{task}.log",
    benchmark:
        "results/features/{model}/{task}.benchmark.tsv"
    wildcard_constraints:
        task=any_of(task for task in plan.config.tasks if not plan.is_text(task)),
    conda:
        ENVIRONMENT
    resources:
        **needs("extract_features"),
    params:
        **identity("extract_features"),
    script:
        CALL


rule extract_text_features:
    input:
        model=paths.MODEL,
        samples=paths.SAMPLES,
    output:
        features=paths.FEATURES,
        same_word=paths.SAME_WORD,
        maps=paths.MAPS,
        samples=paths.SAMPLE_MAPS,
        surface=paths.SURFACE,
        outputs=paths.OUTPUTS,
        divergence=paths.DIVERGENCE,
        examples=paths.EXAMPLES,
    log:
        "logs/extract_text_features/{model}/{task}.log",
    benchmark:
        "results/features/{model}/{task}.benchmark.tsv"
    wildcard_constraints:
        task=any_of(task for task in plan.config.tasks if plan.is_text(task)),
    conda:
        ENVIRONMENT
    resources:
        **needs("extract_text_features"),
    params:
        **identity("extract_text_features"),
    script:
        CALL


rule features:
    input:
        of_each(paths.FEATURES, plan.features),


rule gradients:
    input:
        of_each(paths.GRADIENTS, plan.gradients),
