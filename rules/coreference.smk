# Antecedents of mentions, and what finds them (Clark et al. 2019, section 4.3).


use rule job as extract_antecedents with:
    input:
        model=paths.MODEL,
        rows=paths.ROWS,
    output:
        antecedents=paths.ANTECEDENTS,
    log:
        "logs/extract_antecedents/{model}/{task}.log",
    benchmark:
        "results/antecedents/{model}/{task}.benchmark.tsv"
    params:
        **identity("extract_antecedents"),


use rule job as measure_coreference with:
    input:
        antecedents=paths.ANTECEDENTS,
        rows=paths.ROWS,
    output:
        accuracy=paths.COREFERENCE,
    log:
        "logs/measure_coreference/{model}/{task}.log",
    benchmark:
        "results/coreference/{model}/{task}.benchmark.tsv"
    params:
        **identity("measure_coreference"),


rule coreference:
    input:
        of_each(paths.COREFERENCE, plan.inputs_of("coreference")),
