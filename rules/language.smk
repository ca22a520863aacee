# What single heads know of language: Tables 1 to 3 and Figure 5 of Clark et al. (BlackboxNLP 2019).


use rule local_job as tabulate_relations with:
    input:
        **keyed("tabulate_relations", best=each(paths.RELATIONS_BEST, plan.inputs_of("treebank"))),
        reference=REFERENCE["clark2019"],
    output:
        **table("results/clark2019/table1", "clark_table1", "1", "dependency relations", "Tables of Clark et al."),
    log:
        "logs/tabulate_relations.log",
    benchmark:
        "results/clark2019/table1.benchmark.tsv"
    localrule: True
    params:
        **identity("tabulate_relations"),


use rule local_job as tabulate_coreference with:
    input:
        **keyed("tabulate_coreference", accuracies=each(paths.COREFERENCE, plan.inputs_of("coreference"))),
        reference=REFERENCE["clark2019"],
    output:
        **table("results/clark2019/table2", "clark_table2", "2", "coreference", "Tables of Clark et al."),
    log:
        "logs/tabulate_coreference.log",
    benchmark:
        "results/clark2019/table2.benchmark.tsv"
    localrule: True
    params:
        **identity("tabulate_coreference"),


use rule local_job as tabulate_probes with:
    input:
        **keyed(
            "tabulate_probes",
            scores=each(paths.PROBE_SCORES, plan.probed),
            probes=each(paths.PROBES, plan.probed),
        ),
        reference=REFERENCE["clark2019"],
    output:
        **table("results/clark2019/table3", "clark_table3", "3", "probes", "Tables of Clark et al."),
    log:
        "logs/tabulate_probes.log",
    benchmark:
        "results/clark2019/table3.benchmark.tsv"
    localrule: True
    params:
        **identity("tabulate_probes"),


use rule job as map_sentences with:
    input:
        model=paths.MODEL,
        rows=paths.ROWS,
        guesses=guesses_of,
        best=best_of,
    output:
        maps=paths.SENTENCES,
    log:
        "logs/map_sentences/{model}/{task}.log",
    benchmark:
        "results/sentences/{model}/{task}.benchmark.tsv"
    params:
        **identity("map_sentences"),


use rule job as plot_sentences with:
    input:
        maps=paths.SENTENCES,
    output:
        **figure_of_clark("5", "heads that find relations or antecedents"),
    log:
        "logs/plot_sentences/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure5.benchmark.tsv"
    params:
        **identity("plot_sentences"),


rule language:
    input:
        rules.tabulate_relations.output if plan.inputs_of("treebank") else [],
        rules.tabulate_coreference.output if plan.inputs_of("coreference") else [],
        rules.tabulate_probes.output if plan.probed else [],
        of_each(rules.plot_sentences.output.png, plan.inputs_of("treebank") + plan.inputs_of("coreference")),
