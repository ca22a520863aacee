# Which types of attention head there are, and which the model cannot do without.
# The outline follows Guan et al., "How Far Does BERT Look At" (COLING 2020); docs/understand/method.md explains it.

from snakemake.utils import min_version

min_version("9.27")


report: "report/workflow.rst"


include: "rules/common.smk"  # the validated plan, and the rules that stages declare


# Below what reads it first, and says what is wrong in it.
configfile: f"{workflow.current_basedir}/config.yaml"


include: "rules/models.smk"  # models, found once and recorded
include: "rules/training.smk"  # models fine-tuned from others, where the config says so
include: "rules/own.smk"  # analyses of your own, each one file that the config names
include: "rules/detectors.smk"  # which heads attend by position, or to tokens that have stood before
include: "rules/types.smk"  # types by weights beside types by norms
include: "rules/company.smk"  # what each head costs
include: "rules/syntax.smk"  # what finds the dependency relations of treebanks, and the antecedents of mentions
include: "rules/papers.smk"  # tables and figures of each paper, and its values and claims beside ours
include: "rules/compared_types.smk"  # every type of the first paper in every analysis, beside random heads
include: "rules/summary.smk"  # one page of all results, to be read first
include: "rules/atlas.smk"  # a page with every head of a model
include: "rules/targets.smk"  # parts of all this that can be asked for by name


page = folder_of_results() / "index.html"
made_before = page.is_file() and page.stat().st_mtime_ns


onsuccess:
    if page.is_file() and page.stat().st_mtime_ns != made_before:
        print(f"Open {page.absolute()} in a browser.", file=sys.stderr)


rule all:
    default_target: True
    input:
        files_of(plan),
