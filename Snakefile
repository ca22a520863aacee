# Which types of attention head there are, and which the model cannot do without.
# The outline follows Guan et al., "How Far Does BERT Look At" (COLING 2020); docs/method.md tells the method.

from snakemake.utils import min_version

min_version("9.27")


configfile: f"{workflow.basedir}/config.yaml"


report: "report/workflow.rst"


include: "rules/common.smk"  # the validated plan, wildcards, and the two parameters of every rule
include: "rules/sources.smk"  # models and data, found once and recorded
include: "rules/finetuning.smk"  # models made from others, where the config says so
include: "rules/features.smk"  # section 3: how far, and at which tokens, each head looks
include: "rules/clustering.smk"  # section 4: types of heads and their stability
include: "rules/ablation.smk"  # section 5: what the model answers without a type
include: "rules/controls.smk"  # the number of heads told apart from their kind
include: "rules/tables.smk"  # Tables 1, 2 and 3, and the paper's claims
include: "rules/figures.smk"  # Figures 1 to 5


localrules:
    all,
    features,
    partitions,
    ablations,
    controls,
    figures,


onstart:
    remember_code_of(workflow.rules)


onsuccess:
    remember_config(plan.config)


rule all:
    default_target: True
    input:
        rules.partitions.input,
        rules.ablations.input,
        rules.controls.input,
        rules.tables.input,
        rules.figures.input,
