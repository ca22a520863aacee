# Antecedents of mentions, and what finds them (Clark et al. 2019, section 4.3).


rule extract_antecedents:
    input:
        model=paths.MODEL,
        rows=paths.ROWS,
    output:
        antecedents=paths.ANTECEDENTS,
    log:
        "logs/extract_antecedents/{model}/{task}.log",
    benchmark:
        "results/antecedents/{model}/{task}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("extract_antecedents"),
    params:
        **identity("extract_antecedents"),
    script:
        "../workflow_scripts/extract_antecedents.py"


rule measure_coreference:
    input:
        antecedents=paths.ANTECEDENTS,
        rows=paths.ROWS,
    output:
        accuracy=paths.COREFERENCE,
    log:
        "logs/measure_coreference/{model}/{task}.log",
    benchmark:
        "results/coreference/{model}/{task}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("measure_coreference"),
    params:
        **identity("measure_coreference"),
    script:
        "../workflow_scripts/measure_coreference.py"


rule coreference:
    input:
        of_each(paths.COREFERENCE, plan.inputs_of("coreference")),
