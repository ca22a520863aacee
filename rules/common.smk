import os
import re
import sys
from functools import partial
from pathlib import Path

from snakemake.exceptions import WorkflowError

# The root of this workflow, even if another one uses it as a module.
ROOT = Path(workflow.current_basedir).parent
SCRIPTS = ROOT / "workflow_scripts"
sys.path.insert(0, str(SCRIPTS))

# Modules that declare rules, and the results by which these name what they read and write.
from headtypes.analyses.ablation import analysis as ablation
from headtypes.analyses.company import analysis as company
from headtypes.analyses.coreference import analysis as coreference
from headtypes.analyses.detectors import analysis as detectors
from headtypes.analyses.distances import analysis as distances
from headtypes.analyses.divergence import analysis as divergence
from headtypes.analyses.gradients import analysis as gradients
from headtypes.analyses import norms
from headtypes.analyses.outputs import analysis as outputs
from headtypes.analyses.own import analysis as own
from headtypes.analyses.probes import analysis as probes
from headtypes.analyses.relations import analysis as relations
from headtypes.analyses.surface import analysis as surface
from headtypes.analyses.types import analysis as types
from headtypes.comparisons import stage as compared_types
from headtypes.data import stage as data
from headtypes.models import stage as models
from headtypes.training import stage as training
from headtypes.pages.atlas import stage as atlas
from headtypes.pages.ledger import stage as ledger
from headtypes.pages.summary import stage as summary
from headtypes.papers import registry as papers
from headtypes.papers.clark2019 import paper as clark2019
from headtypes.papers.guan2020 import paper as guan2020

from headtypes.analyses.registry import ANALYSES
from headtypes.core.errors import InputError
from headtypes.core.files import canonical_json
from headtypes.core.stage import Result
from headtypes.papers.registry import PAPERS
from headtypes.planning import resources
from headtypes.planning.code import brief, code_hash, loaded_modules
from headtypes.planning.config.reading import Layers, laid_over, mistakes_in
from headtypes.planning.plan import RESULTS, STAGES, files_of, plan_of
from headtypes.planning.provenance import contents_of, results_folder, wrong_weights

if workflow.remote_exec:
    # A job on a cluster's node. Downloads are local jobs, and a node without network would wait for one.
    os.environ.update(HF_HUB_OFFLINE="1")

try:
    # As a module, this workflow has the whole of its configuration from the other one.
    command_line = None if workflow.modifier.skip_configfile else workflow.config_settings
    layers = (
        laid_over([ROOT / "config.yaml", *command_line.configfiles], command_line.config)
        if command_line
        else Layers(config, {})
    )
    if command_line and command_line.replace_workflow_config:
        raise InputError(
            "--replace-workflow-config does not reach the processes of jobs, which would lay the configuration over "
            "config.yaml; lay it over experiments/without_demo.yaml instead."
        )
    plan = plan_of(layers)
except InputError as error:
    raise WorkflowError(*mistakes_in(str(error))) from None

if plan.left_out_conditions and workflow.is_main_process:
    logger.warning(
        "Left out, since they name types that only four clusters give: conditions "
        f"{', '.join(plan.left_out_conditions)}."
    )


# The analyses whose columns of heads stand beside what heads cost.
NUMBERED = [it for it in ANALYSES if it.per_head and it.name != "company"]
# The environment of every rule that runs a script, with --sdm conda.
ENVIRONMENT = "../envs/headtypes.yaml"
# The script of every rule: it calls the function that the rule's stage names.
CALL = "../workflow_scripts/call.py"


def identity(stage, files=None):
    """The parameters of a stage's rule, by which Snakemake sees that a job has to run again.

    files: a function from wildcards to the files that it reads and no job makes, whose SHA-256 count.

    config: its part of the config, as canonical JSON, and code: the hash of the modules that a job loads. Both are
        functions, since the process of a job, which reads all rules, needs those of its own rule alone.
    order: the keys of the inputs of which there are many of a kind, in the order of their paths and of the result.
    spec, keyed: what `config` and `order` are of, for the job to read and record. Those are hashes where they are long, so
        that the reason why a job runs can be read.
    calls: the function that a job calls.
    memory: where the weights of a model may lie that is larger than a device. It changes no result, and Snakemake
        compares no parameter that is a function of `output`, as this one, `spec` and `keyed` are declared.
    """
    parameters = {
        "config": lambda wildcards: brief(canonical_json(stage.spec(plan, **wildcards))),
        "spec": lambda wildcards, output: canonical_json(stage.spec(plan, **wildcards)),
        "code": lambda wildcards: code_hash(loaded_modules(stage.calls, stage.spec(plan, **wildcards))),
        "calls": stage.calls,
    }
    if files is not None:
        parameters["contents"] = lambda wildcards: brief(
            canonical_json(contents_of(files(wildcards), result_of(stage, wildcards)))
        )
    if many := KEYED.get(stage):

        def keys(wildcards):
            return canonical_json({name: list(files(wildcards)) for name, files in many.items()})

        parameters["order"] = lambda wildcards: brief(keys(wildcards))
        parameters["keyed"] = lambda wildcards, output: keys(wildcards)
    if stage.runs_model:
        parameters["memory"] = lambda wildcards, output: canonical_json(plan.memory_of(wildcards.model))
    return parameters


def needs(stage):
    """The resources of a rule: memory in MB and time in minutes, which grow with every attempt, and GPUs.

    Jobs that run no model ask for no GPU, nor for a kind of one, which Slurm would read as one GPU. Others ask for what
    `default-resources` says, unless the weights of some model are spread over several.
    """

    def of_job(name):
        return lambda wildcards, input, attempt: getattr(
            resources.needs(plan, stage, wildcards, input).at(attempt), name
        )

    spread = any(model.memory is not None for model in plan.config.models.values())
    if not stage.runs_model:
        gpus = {"gpu": 0, "gpu_model": None}
    else:
        gpus = (
            {"gpu": lambda wildcards, input: resources.gpus(plan, wildcards.model, input.get("model"))}
            if spread
            else {}
        )
    return {"mem_mb": of_job("mem_mb"), "runtime": of_job("minutes"), **gpus}


def any_of(names):
    """A wildcard constraint: one of the names; where there are none, it matches nothing."""
    return "|".join(map(re.escape, dict.fromkeys(names))) or "(?!)"


def entry(path, caption, category, content, subcategory=None, **labels):
    """A file with its entry in the report, which names the function that computed it."""

    def all_labels(wildcards, params):
        return {**labels, "content": content, "computed by": f"headtypes.{params.calls.replace(':', '.')}"}

    caption = f"../report/{caption}.rst"
    return report(path, caption=caption, category=category, subcategory=subcategory, labels=all_labels)


def figure(path, caption, name, content, category="Figures", suffix="", by="partition"):
    """The outputs of a figure: PDF, and PNG with its entry in the report."""
    *_, of = re.findall(r"\{\w+\}", path)
    subcategory = "{model}" if "{model}" in path else "all models"
    png = entry(f"{path}.png", caption, category, content, subcategory, figure=name, **{by: of})
    return {f"pdf{suffix}": f"{path}.pdf", f"png{suffix}": png}


def figure_of_partition(number, content):
    """The outputs of a figure of Guan et al. that shows one partition."""
    path = f"results/guan2020/{{model}}/{{partition}}/figure{number}"
    return figure(path, f"figure{number}", number, content, suffix=f"_{number}")


def figure_of_clark(name, content, suffix=""):
    """The outputs of a figure of Clark et al."""
    path = f"results/clark2019/{{model}}/{{task}}/figure{name}"
    return figure(path, f"clark_figure{name}", name, content, "Figures of Clark et al.", suffix, by="task")


def table(path, caption, name, content, category="Tables", further=(), suffix=""):
    """The outputs of a table: CSV, Markdown, HTML with its entry in the report, and files with further endings."""
    html = entry(f"{path}.html", caption, category, content, table=name)
    outputs = {"csv": f"{path}.csv", "markdown": f"{path}.md", "html": html}
    outputs |= {ending.partition(".")[0]: f"{path}.{ending}" for ending in further}
    return {f"{name}{suffix}": file for name, file in outputs.items()}


def table_of_guan(number, content, further, suffix=""):
    """The outputs of a table of Guan et al."""
    path = f"results/guan2020/table{number}"
    return table(path, f"table{number}", number, content, further=further, suffix=suffix)


def table_of_clark(number, content):
    """The outputs of a table of Clark et al."""
    path = f"results/clark2019/table{number}"
    return table(path, f"clark_table{number}", number, content, "Tables of Clark et al.", ["tex"])


def result_of(stage, wildcards):
    """The first output of a job, as Snakemake has it, with the prefix that another workflow may give."""
    return expand(getattr(rules, stage.name).output[0], **wildcards)[0]


def folder_of_results():
    """Where results lie, with the prefix that another workflow may give."""
    return results_folder(rules.fetch_model.output.model)


# What rules read: functions of a job's wildcards, for one file, or for many of a kind that the job finds by their keys.

# Relative to the working directory: a folder that was moved has the same inputs.
PAGES = local(os.path.relpath(SCRIPTS / "headtypes" / "pages"))


def of_user(files):
    """Files that no job makes, to which a prefix does not apply; what they hold decides, and not how old they are."""
    return [ancient(local(file)) for file in files]


def of_each(pattern, entries):
    """The path of a result for each entry of the plan, in their order."""
    return [path for entry in entries for path in expand(pattern, **entry.wildcards)]


def each(pattern, entries, by="key"):
    """The path of a result for each entry of the plan, by the attribute that tells it from the others.

    entries: a list, or {key: entry}; or what gives one of them by a job's wildcards, and then so does this.
    """
    if callable(entries):
        return lambda wildcards: each(pattern, entries(**wildcards), by)
    named = entries if isinstance(entries, dict) else {getattr(entry, by): entry for entry in entries}
    return {key: path for key, entry in named.items() for path in of_each(pattern, [entry])}


# Of each rule that has them, the inputs of which there are many of a kind, by a job's wildcards.
KEYED = {}


def keyed(stage, **inputs):
    """Inputs that are many files of a kind, which a job finds by their keys: {key: path}, or a function (`each`)."""
    KEYED[stage] = {
        name: files if callable(files) else lambda wildcards, files=files: files for name, files in inputs.items()
    }
    return {
        name: lambda wildcards, files=files: list(files(wildcards).values()) for name, files in KEYED[stage].items()
    }


def of(pattern, find):
    """An input function: the path for the entry of the plan that is found by the wildcards, if there is one."""

    def path(wildcards):
        entry = find(**wildcards)
        return expand(pattern, **entry.wildcards)[0] if entry else []

    return path


def _by_kind(task, treebank, coreference):
    return {"treebank": treebank, "coreference": coreference}[plan.kind_of(task).name]


def guesses_of(wildcards):
    """What every head guesses on a task: the heads of words in a treebank, or the antecedents of mentions."""
    return _by_kind(wildcards.task, relations.ARCS.path, coreference.ANTECEDENTS.path).format(**wildcards)


def best_of(wildcards):
    """Which heads are the best on a task: for the relations of a treebank, or for the antecedents of mentions."""
    return _by_kind(wildcards.task, relations.BEST.path, coreference.TABLE.path).format(**wildcards)


def compared_with(*names):
    """The comparisons with those of the papers that there is something to compare with."""
    compared = [name for name in names if PAPERS[name].inputs(plan)]
    return expand(rules.compare_with_paper.output, paper=compared)


def inputs_of_analysis(wildcards):
    """The files that an analysis reads, by its names for them: results, and files of the user's."""
    read, own = plan.inputs_of_analysis(wildcards.analysis), plan.files.of_analysis(wildcards.analysis)
    return {name: of_user([path])[0] if name in own else path.format(**wildcards) for name, path in read.items()}


wildcard_constraints:
    # The base of a fine-tuned model, and the task it learns, need not be selected.
    model=any_of(plan.config.models),
    task=any_of(plan.config.tasks),
    condition=any_of([*plan.conditions, *(ablation.name for ablation in plan.ablations)]),
    partition=any_of(partition.name for partition in plan.partitions.values()),
    clustering=any_of(plan.clusterings),
    paper=any_of(PAPERS),
    analysis=any_of(entry.analysis for entry in plan.own_analyses),
