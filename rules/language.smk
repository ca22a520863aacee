# What single heads know of language: Tables 1 to 3 and Figure 5 of Clark et al. (BlackboxNLP 2019).


rule tabulate_relations:
    input:
        best=of_each(paths.RELATIONS_BEST, plan.inputs_of("treebank")),
        reference=CLARK2019,
    output:
        csv="results/clark2019/table1.csv",
        markdown="results/clark2019/table1.md",
        html=report(
            "results/clark2019/table1.html",
            caption="../report/clark_table1.rst",
            category="Tables of Clark et al.",
            labels={"table": "1", "content": "dependency relations"},
        ),
    log:
        "logs/tabulate_relations.log",
    benchmark:
        "results/clark2019/table1.benchmark.tsv"
    localrule: True
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        **identity("tabulate_relations"),
    script:
        "../workflow_scripts/tabulate_relations.py"


rule tabulate_coreference:
    input:
        accuracies=of_each(paths.COREFERENCE, plan.inputs_of("coreference")),
        reference=CLARK2019,
    output:
        csv="results/clark2019/table2.csv",
        markdown="results/clark2019/table2.md",
        html=report(
            "results/clark2019/table2.html",
            caption="../report/clark_table2.rst",
            category="Tables of Clark et al.",
            labels={"table": "2", "content": "coreference"},
        ),
    log:
        "logs/tabulate_coreference.log",
    benchmark:
        "results/clark2019/table2.benchmark.tsv"
    localrule: True
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        **identity("tabulate_coreference"),
    script:
        "../workflow_scripts/tabulate_coreference.py"


rule tabulate_probes:
    input:
        scores=of_each(paths.PROBE_SCORES, plan.probed),
        probes=of_each(paths.PROBES, plan.probed),
        reference=CLARK2019,
    output:
        csv="results/clark2019/table3.csv",
        markdown="results/clark2019/table3.md",
        html=report(
            "results/clark2019/table3.html",
            caption="../report/clark_table3.rst",
            category="Tables of Clark et al.",
            labels={"table": "3", "content": "probes"},
        ),
    log:
        "logs/tabulate_probes.log",
    benchmark:
        "results/clark2019/table3.benchmark.tsv"
    localrule: True
    conda:
        "../envs/headtypes.yaml"
    resources:
        gpu=0,
    params:
        **identity("tabulate_probes"),
    script:
        "../workflow_scripts/tabulate_probes.py"


rule map_sentences:
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
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("map_sentences"),
    params:
        **identity("map_sentences"),
    script:
        "../workflow_scripts/map_sentences.py"


rule plot_sentences:
    input:
        maps=paths.SENTENCES,
    output:
        pdf="results/clark2019/{model}/{task}/figure5.pdf",
        png=report(
            "results/clark2019/{model}/{task}/figure5.png",
            caption="../report/clark_figure5.rst",
            category="Figures of Clark et al.",
            subcategory="{model}",
            labels={"figure": "5", "task": "{task}", "content": "heads that find relations or antecedents"},
        ),
    log:
        "logs/plot_sentences/{model}/{task}.log",
    benchmark:
        "results/clark2019/{model}/{task}/figure5.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_sentences"),
    params:
        **identity("plot_sentences"),
    script:
        "../workflow_scripts/plot_sentences.py"


rule language:
    input:
        rules.tabulate_relations.output if plan.inputs_of("treebank") else [],
        rules.tabulate_coreference.output if plan.inputs_of("coreference") else [],
        rules.tabulate_probes.output if plan.probed else [],
        of_each(rules.plot_sentences.output.png, plan.inputs_of("treebank") + plan.inputs_of("coreference")),
    localrule: True
