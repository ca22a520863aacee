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
from headtypes.pages import stage as pages
from headtypes.papers import registry as papers
from headtypes.papers.clark2019 import paper as clark2019
from headtypes.papers.guan2020 import paper as guan2020

from headtypes.analyses.registry import ANALYSES
from headtypes.core.errors import InputError
from headtypes.core.files import canonical_json
from headtypes.core.stage import Given, Many, Result, wildcards_of
from headtypes.papers.paper import reference_of
from headtypes.papers.registry import PAPERS
from headtypes.planning import resources
from headtypes.planning.checks import check_published
from headtypes.planning.code import brief, code_hash, loaded_modules
from headtypes.planning.config import Layers, laid_over, mistakes_in
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


# The environment of every rule that runs a script, with --sdm conda.
ENVIRONMENT = "../envs/headtypes.yaml"
# The script of every rule: it calls the function that the rule's stage names.
CALL = "../workflow_scripts/call.py"


def identity(stage, files=None):
    """Return the `params` of a stage's rule, as a dict by which Snakemake sees that a job has to run again.

    files: function from wildcards to the files that the rule reads and no job makes; None if there are none.

    The dict has these keys. Snakemake calls each value but `calls` as a function, for each job.

    config:   the rule's part of the configuration, as canonical JSON. A job's process reads all rules, and needs this
        value of its own rule alone.
    code:     hash of the modules that a job loads.
    contents: SHA-256 of each file of `files`.
    order:    {input: keys of its files, in the order of the result}, for inputs that are many files.
    spec, keyed: full content of `config` and `order`, for the job to read and record. Long values of `config` and
        `order` are hashes, so that the reason why a job runs can be read.
    calls:    function that a job calls.
    memory:   most GB of a model's weights on GPUs and in memory, which change no result. Snakemake does not compare a
        parameter that is a function of `output`, as `memory`, `spec` and `keyed` are.
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
    """Return the `resources` of a stage's rule: memory in MB, time in minutes, which grow with every attempt, and GPUs.

    A job that runs no model asks for no GPU and no kind of GPU, which Slurm would read as one GPU. All other jobs ask
    for the GPUs of `default-resources`, unless the weights of some model are spread over several GPUs.
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
    """Return a wildcard constraint: a regular expression that matches each of the names, and nothing without names."""
    return "|".join(map(re.escape, dict.fromkeys(names))) or "(?!)"


def result_of(stage, wildcards):
    """Return the path of a job's first output, with the prefix that another workflow may give to results."""
    return expand(getattr(rules, stage.name).output[0], **wildcards)[0]


def folder_of_results():
    """Return the folder of all results, with the prefix that another workflow may give to results."""
    return results_folder(rules.fetch_model.output.model)


# Inputs of rules: functions of a job's wildcards, for one file, or for many of a kind that the job finds by their keys.

# Relative to the working directory: a folder that was moved has the same inputs.
PAGES = local(os.path.relpath(SCRIPTS / "headtypes" / "pages"))


def of_user(files):
    """Return files that no job makes as inputs of a rule; files: a path, or a list of paths.

    No prefix of another workflow applies to the files, and Snakemake ignores their age: their contents alone decide.
    """
    return ancient(local(files)) if isinstance(files, str) else [ancient(local(file)) for file in files]


def path_of(pattern, find):
    """Return an input function: from a job's wildcards to the path of a result, or to [] if there is no such result.

    pattern: path of the result, with wildcards.
    find:    function from the job's wildcards to the entry of the plan that fills in the path; the entry may be None.
    """
    return lambda wildcards: expand(pattern, **entry.wildcards)[0] if (entry := find(**wildcards)) else []


def paths_by_key(pattern, entries, by="key"):
    """Return {key of an entry of the plan: path of a result for this entry}.

    pattern: path of the result, with wildcards.
    entries: list of entries, or {key: entry}; or a function from a job's wildcards to either, for which `paths_by_key`
        returns a function from wildcards to the paths.
    by:      name of the attribute that holds the key of a listed entry.
    """
    if callable(entries):
        return lambda wildcards: paths_by_key(pattern, entries(**wildcards), by)
    named = entries if isinstance(entries, dict) else {getattr(entry, by): entry for entry in entries}
    return {key: expand(pattern, **entry.wildcards)[0] for key, entry in named.items()}


# {stage: {name of an input: function from a job's wildcards to {key: path}}}, for inputs of many files of a kind.
KEYED = {}


def inputs_by_key(stage, **inputs):
    """Return {name: input function} for the inputs of a rule of which there are many files of a kind.

    Each function gives a list of paths. The keys of the paths are stored, so that a job finds a file by its key.

    inputs: {name: {key: path}}, or a function from wildcards to {key: path}, as `paths_by_key` returns it.
    """
    KEYED[stage] = {
        name: files if callable(files) else lambda wildcards, files=files: files for name, files in inputs.items()
    }
    return {
        name: lambda wildcards, files=files: list(files(wildcards).values()) for name, files in KEYED[stage].items()
    }


def by_kind(treebank, coreference):
    """Return an input function: from a job's wildcards to the path of that result which is for its task's kind."""
    paths = {"treebank": treebank.path, "coreference": coreference.path}
    return lambda wildcards: paths[plan.kind_of(wildcards.task).name].format(**wildcards)


def compared_with(name):
    """Return the paths of the comparison with a paper; [] if the plan has no results to compare with it."""
    return expand(rules.compare_with_paper.output, paper=name) if PAPERS[name].inputs(plan) else []


def inputs_of_analysis(wildcards):
    """Return {name: path} of the files that a user's analysis reads: results, and files of the user's."""
    read, own = plan.inputs_of_analysis(wildcards.analysis), plan.analysis_files(wildcards.analysis)
    return {name: of_user(path) if name in own else path.format(**wildcards) for name, path in read.items()}


wildcard_constraints:
    # The base of a fine-tuned model, and the task it learns, need not be selected.
    model=any_of(plan.config.models),
    task=any_of(plan.config.tasks),
    condition=any_of([*plan.conditions, *(ablation.name for ablation in plan.ablations)]),
    partition=any_of(partition.name for partition in plan.partitions.values()),
    clustering=any_of(plan.clusterings),
    paper=any_of(PAPERS),
    analysis=any_of(entry.analysis for entry in plan.own_analyses),


# Outputs of rules, with their entries in Snakemake's report.


def entry(path, caption, category, content, subcategory=None, **labels):
    """Return an output file with its entry in Snakemake's report, which names the function that computed the file.

    caption: name of a file in report/, without ending. content: phrase that says what the file shows.
    category, subcategory: headings under which the report lists the file.
    labels: {column of the report: text} of further columns.
    """

    def all_labels(wildcards, params):
        return {**labels, "content": content, "computed by": f"headtypes.{params.calls.replace(':', '.')}"}

    caption = f"../report/{caption}.rst"
    return report(path, caption=caption, category=category, subcategory=subcategory, labels=all_labels)


def figure(path, caption, name, content, category="Figures", suffix="", by="partition"):
    """Return {name of output: file} of a figure: its PDF, and its PNG with an entry in Snakemake's report.

    path: path without ending, with wildcards; name: number in the report; suffix: ending of the outputs' names; by:
        label of the report's column that holds the last wildcard of `path`. Other arguments are those of `entry`.
    """
    *_, of = re.findall(r"\{\w+\}", path)
    subcategory = "{model}" if "{model}" in path else "all models"
    png = entry(f"{path}.png", caption, category, content, subcategory, figure=name, **{by: of})
    return {f"pdf{suffix}": f"{path}.pdf", f"png{suffix}": png}


def figure_of_partition(number, content):
    """Return {name of output: file} of a figure of Guan et al. that shows one partition."""
    path = f"results/guan2020/{{model}}/{{partition}}/figure{number}"
    return figure(path, f"figure{number}", number, content, suffix=f"_{number}")


def figure_of_clark(number, content, suffix=""):
    """Return {name of output: file} of a figure of Clark et al."""
    path = f"results/clark2019/{{model}}/{{task}}/figure{number}"
    return figure(path, f"clark_figure{number}", number, content, "Figures of Clark et al.", suffix, by="task")


def table(path, caption, name, content, category="Tables", further=(), suffix=""):
    """Return {name of output: file} of a table: CSV, Markdown, and HTML with an entry in Snakemake's report.

    path, name, suffix: as in `figure`; further: endings of further files, such as tex. Others are as in `entry`.
    """
    html = entry(f"{path}.html", caption, category, content, table=name)
    outputs = {"csv": f"{path}.csv", "markdown": f"{path}.md", "html": html}
    outputs |= {ending.partition(".")[0]: f"{path}.{ending}" for ending in further}
    return {f"{name}{suffix}": file for name, file in outputs.items()}


def table_of_guan(number, content, further, suffix=""):
    """Return {name of output: file} of a table of Guan et al.; further: endings of further files, such as tex."""
    path = f"results/guan2020/table{number}"
    return table(path, f"table{number}", number, content, further=further, suffix=suffix)


def table_of_clark(number, content):
    """Return {name of output: file} of a table of Clark et al., also as LaTeX."""
    path = f"results/clark2019/table{number}"
    return table(path, f"clark_table{number}", number, content, "Tables of Clark et al.", ["tex"])


# {rule: {name of output: file}}: outputs of rules of stages, beside the results that have a name.
REPORTED = {
    "cluster_heads": figure(
        "results/stability/{model}/{partition}", "stability", "stability", "how many types, and how stable"
    ),
    "plot_controls": figure(
        "results/controls/{model}/{partition}", "controls", "controls", "types beside random heads"
    ),
    "tabulate_types": table_of_guan("1", "stability and shares of the types", ["tex"]),
    "tabulate_ablations": {
        **table_of_guan("2", "types left out or made uniform", ["tex", "all.csv"], "_2"),
        **table_of_guan("3", "attention within and between sentences", ["tex", "all.csv"], "_3"),
    },
    "tabulate_readings": table(
        "results/guan2020/readings", "readings", "readings", "the paper's claims under other readings"
    ),
    "tabulate_relations": table_of_clark("1", "dependency relations"),
    "tabulate_coreference": table_of_clark("2", "coreference"),
    "tabulate_probes": table_of_clark("3", "probes"),
}


def paths_of(read):
    """Return the function from a job's wildcards to the paths of an input that its stage declares."""
    return lambda wildcards: read(plan, **wildcards)


def input_of(read):
    """Return the input of a rule, a path or a function from a job's wildcards, for one that its stage declares."""
    if isinstance(read, Given):
        return lambda wildcards: of_user(read.find(plan, **wildcards))
    return read.path if isinstance(read, Result) else paths_of(read)


def files_given(stage):
    """Return the function from a job's wildcards to the files that it reads and no job makes; None without such files."""

    def paths(wildcards):
        found = given[0].find(plan, **wildcards)
        return [found] if isinstance(found, str) else found

    given = [read for read in stage.inputs if isinstance(read, Given)]
    return paths if given else None


for stage in STAGES.values():
    if not stage.inputs:
        continue
    made = [result for result in RESULTS if result.rule == stage.name]
    first = made[0].path
    by_wildcard = re.findall(r"\{(\w+)\}", first)
    if not by_wildcard and not any(result.of(plan) for result in made):
        # A table that would be empty has no rule.
        continue
    # Several rules make the same of different tasks or partitions.
    others = {result.path for result in RESULTS if result.rule != stage.name}
    entries = {result.path: result.of(plan) for result in made if result.path in others}
    shared = {
        wildcards_of(path, entry)[by_wildcard[-1]]: path for path, of_path in entries.items() for entry in of_path
    }
    keyed = {read.name: paths_of(read) for read in stage.inputs if isinstance(read, Many)}

    rule:
        name:
            stage.name
        input:
            **inputs_by_key(stage, **keyed),
            **{name: input_of(read) for name, read in stage.named_inputs.items() if name not in keyed},
        output:
            **{result.name: result.path for result in made if result.name},
            **REPORTED.get(stage.name, {}),
        log:
            Path("logs", stage.name, *(f"{{{name}}}" for name in by_wildcard)).with_suffix(".log").as_posix(),
        benchmark:
            stage.benchmark or Path(first).with_suffix(f".{stage.name}.benchmark.tsv").as_posix()
        wildcard_constraints:
            **({by_wildcard[-1]: any_of(shared)} if entries else {}),
        priority: stage.priority
        localrule: stage.local
        conda:
            ENVIRONMENT
        resources:
            **({} if stage.local else needs(stage)),
        params:
            **identity(stage, files_given(stage)),
        script:
            CALL
