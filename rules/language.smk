# What single heads know of language: Tables 1 to 3 and Figure 5 of Clark et al. (BlackboxNLP 2019).


CLARK_TABLES = tables(
    "clark2019",
    "Tables of Clark et al.",
    table1=("clark_table1", "dependency relations", plan.inputs_of("treebank"), "tex"),
    table2=("clark_table2", "coreference", plan.inputs_of("coreference"), "tex"),
    table3=("clark_table3", "probes", plan.probed, "tex"),
)


rule tabulate_clark2019:
    input:
        **keyed(
            "tabulate_clark2019",
            best=each(paths.RELATIONS_BEST, plan.inputs_of("treebank")),
            accuracies=each(paths.COREFERENCE, plan.inputs_of("coreference")),
            scores=each(paths.PROBE_SCORES, plan.probed),
            probes=each(paths.PROBES, plan.probed),
        ),
        reference=REFERENCE["clark2019"],
    output:
        **CLARK_TABLES,
    log:
        "logs/tabulate_clark2019.log",
    benchmark:
        "results/clark2019/tables.benchmark.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **identity("tabulate_clark2019", lambda wildcards: [REFERENCE["clark2019"]]),
    script:
        "../workflow_scripts/tabulate_clark2019.py"


rule plot_sentences:
    input:
        model=paths.MODEL,
        rows=paths.ROWS,
        guesses=guesses_of,
        best=best_of,
    output:
        **figure_of_clark("5", "heads that find relations or antecedents"),
        maps=paths.SENTENCES,
    log:
        "logs/plot_sentences/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure5.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("plot_sentences"),
    params:
        **identity("plot_sentences"),
    script:
        "../workflow_scripts/plot_sentences.py"


rule language:
    input:
        list(CLARK_TABLES.values()),
        of_each(rules.plot_sentences.output.png, plan.inputs_of("treebank") + plan.inputs_of("coreference")),
