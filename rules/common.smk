import os
import re
import sys
from functools import cache, partial
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.resources import Resource, Resources

# The root of this workflow, even if another one uses it as a module.
ROOT = Path(workflow.current_basedir).parent
SCRIPTS = ROOT / "workflow_scripts"
sys.path.insert(0, str(SCRIPTS))

from headtypes.analyses.coreference.analysis import COREFERENCE
from headtypes.analyses.detectors.analysis import DETECTORS
from headtypes.analyses.divergence.analysis import DIVERGENCE
from headtypes.analyses.registry import ANALYSES
from headtypes.analyses.relations.analysis import RELATIONS
from headtypes.core.errors import InputError
from headtypes.core.files import canonical_json
from headtypes.planning.config.files import laid_over
from headtypes.planning.config.messages import mistakes_in, placed
from headtypes.models.gpus import number_of_gpus
from headtypes.planning.tools.demands import check_models, demands_as_text
from headtypes.planning.tools.notes import notes_on
from headtypes.planning import locks, resources
from headtypes.planning.code.digest import code_digest
from headtypes.planning.code.running import find_first, remember_code
from headtypes.planning.tools.history import remember_config, remember_shards, remembered_shards
from headtypes.planning.plan import Plan, plan_of
from headtypes.papers.registry import PAPERS
from headtypes.planning.results import paths
from headtypes.planning.provenance import contents_of, forget_merged, results_folder, shards_of
from headtypes.planning.stages.overview import atlas, development, ledger, summary
from headtypes.planning.stages.registry import STAGES

find_first(SCRIPTS)

if workflow.remote_exec:
    # A job on a cluster's node. Downloads are local jobs, and a node without network would wait for it.
    os.environ.update(HF_HUB_OFFLINE="1")
    locks.leave_run()

try:
    # As a module, this workflow has the whole of its configuration from the other one.
    command_line = None if workflow.modifier.skip_configfile else workflow.config_settings
    layers = laid_over(
        config,
        [ROOT / "config.yaml", *(command_line.configfiles if command_line else [])],
        command_line and command_line.config,
    )
    if command_line and command_line.replace_workflow_config:
        raise InputError(
            "--replace-workflow-config does not reach the processes of jobs, which would lay the configuration over "
            "config.yaml; lay it over experiments/without_demo.yaml instead."
        )
    plan = plan_of(layers)
    in_use = locks.run_beside() if workflow.is_main_process else None
except InputError as error:
    raise WorkflowError(*mistakes_in(str(error))) from None

for sentence in [in_use, *notes_on(plan, layers)] if workflow.is_main_process else []:
    if sentence:
        logger.warning(sentence)


# Asked once, and not for each of a large study's jobs.
GPUS = number_of_gpus()
DEFAULT_RESOURCES = Resources.from_mapping(workflow.resource_settings.default_resources or {})
GPU_MODEL = (DEFAULT_RESOURCES.get("gpu_model").raw or "").strip("'\"")


def identity(rule, files=None):
    """The parameters of a rule, by which Snakemake sees that a job has to run again.

    files: a function from wildcards to the files of the user's that it reads, whose SHA-256 count.

    stage, script: its name, also where another workflow gives it another, and that of the script that it runs.
    spec: its part of the config, as canonical JSON; code: the digest of its script and of what that imports. Both are
        functions, since the process of a job, which reads all rules, needs those of its own rule alone.
    memory: where the weights of a model may lie that is larger than a device, by which Snakemake runs no job again,
        since the function asks for `output`.
    keyed: the keys and paths of the inputs of which there are many of a kind, in the order in which a result has them.
    """
    parameters = {
        "stage": rule,
        "script": STAGES[rule].script,
        "spec": lambda wildcards: canonical_json(STAGES[rule](plan, **wildcards)),
        "code": lambda wildcards: code_of(STAGES[rule].script),
    }
    if files is not None:
        parameters["contents"] = lambda wildcards: canonical_json(
            contents_of(files(wildcards), result_of(rule, wildcards))
        )
    if many := KEYED.get(rule):
        parameters["keyed"] = lambda wildcards: canonical_json(
            {name: list(files(wildcards).items()) for name, files in many.items()}
        )
    if STAGES[rule].runs_model:
        parameters["memory"] = lambda wildcards, output: canonical_json(resources.memory_of(plan, wildcards.model))
    return parameters


@cache
def code_of(script):
    """The digest of a script and of what it imports."""
    return code_digest(SCRIPTS / f"{script}.py")


def needs(wildcards, input, rulename):
    """What a job asks for; Snakemake asks again once the inputs exist, and shows <TBD> until then."""
    return resources.needs(plan, stage_of(rulename), wildcards, input, on_gpu=bool(gpus(wildcards, input, rulename)))


def gpus(wildcards, input, rulename):
    """The number of GPUs that a job asks for."""
    return gpus_of_a_model() * resources.gpus(plan, input) if resources.runs_model(stage_of(rulename), input) else 0


def gpu_model(wildcards, input, rulename):
    """The model of GPU that a job asks for; Slurm's executor requests a GPU wherever one is named, even with gpu=0."""
    return GPU_MODEL if gpus(wildcards, input, rulename) else None


@cache
def stage_of(rulename):
    """The stage of a rule, which another workflow may have given another name."""
    return workflow.get_rule(rulename).params.stage


def gpus_of_a_model():
    """GPUs for a job that runs a model: what `default-resources` says; else one, if it runs here and there is one."""
    default = DEFAULT_RESOURCES.get("gpu")
    if default.is_evaluable():
        return 1
    if default.value is not None:
        return default.value
    return int(workflow.local_exec and not workflow.remote_exec and GPUS > 0)


def any_of(names):
    """A wildcard constraint: one of the names; where there are none, it matches nothing."""
    return "|".join(map(re.escape, dict.fromkeys(names))) or "(?!)"


def entry(path, caption, category, content, subcategory=None, **labels):
    """A file with its entry in the report."""
    caption, labels = f"../report/{caption}.rst", {**labels, "content": content}
    return report(path, caption=caption, category=category, subcategory=subcategory, labels=labels)


def figure(path, caption, name, content, category="Figures", suffix="", by="partition"):
    """The outputs of a figure: PDF, and PNG with its entry in the report."""
    *_, of = re.findall(r"\{\w+\}", path)
    subcategory = "{model}" if "{model}" in path else "all models"
    png = entry(f"{path}.png", caption, category, content, subcategory, figure=name, **{by: of})
    return {f"pdf{suffix}": f"{path}.pdf", f"png{suffix}": png}


def figure_of_clark(name, content, suffix=""):
    """The outputs of a figure of Clark et al."""
    path = f"results/clark2019/{{model}}/{{task}}/figure{name}"
    return figure(path, f"clark_figure{name}", name, content, "Figures of Clark et al.", suffix, by="task")


def table(path, caption, name, content, category="Tables", suffix=""):
    """The outputs of a table: CSV, Markdown, and HTML with its entry in the report."""
    html = entry(f"{path}.html", caption, category, content, table=name)
    return {f"csv{suffix}": f"{path}.csv", f"markdown{suffix}": f"{path}.md", f"html{suffix}": html}


def result_of(rule, wildcards):
    """The first output of a job, as Snakemake has it, with the prefix that another workflow may give."""
    return expand(getattr(rules, rule).output[0], **wildcards)[0]


def parts_of(whole, shard):
    """The shards that the first output of the rule `whole` is merged from, which the rule `shard` makes.

    A result does not depend on their number, so one that exists keeps the number it was merged from; a new one takes
    that of the config. If one job does all the work, there are no shards.
    """

    def shards_of_job(wildcards):
        path, part = result_of(whole, wildcards), getattr(rules, shard).output[0]
        planned = planned_shards()
        if path not in planned:
            planned[path] = shards_of(path) or plan.shards
        return expand(part, shard=range(planned[path]), shards=planned[path], **wildcards) if planned[path] > 1 else []

    return shards_of_job


@cache
def planned_shards():
    """The number of shards of each result that this process knows of.

    A job on a cluster's node asks the run: it may be a further attempt, and the first has deleted the result with its
    record.
    """
    return {} if workflow.is_main_process else remembered_shards(folder_of_results())


def remember_planned_shards():
    """Tell the processes of jobs the numbers of shards that differ from the config's."""
    if workflow.is_main_process:
        differing = {path: number for path, number in planned_shards().items() if number != plan.shards}
        remember_shards(folder_of_results(), differing)


def remember_code_of(stages):
    """Write what the digests of the stages are made of, so that a later change can be traced to a definition."""
    for stage in stages.values():
        remember_code(folder_of_results(), SCRIPTS / f"{stage.script}.py")


def folder_of_results():
    """Where results lie, with the prefix that another workflow may give."""
    return results_folder(rules.fetch_model.output.model)


# At most as many jobs at a time as there are GPUs, unless --resources says otherwise. On a cluster, where `nodes` are
# given, the limit applies only within each submitted job, which may be a group.
if "gpu" not in workflow.global_resources:
    workflow.register_resource("gpu", max(1, GPUS) if workflow.resource_settings.nodes is None else 1)


resource_scopes:
    gpu="local",
    runtime="local",


wildcard_constraints:
    # The base of a fine-tuned model, and the task it learns, need not be selected.
    model=any_of(plan.config.models),
    task=any_of(plan.config.tasks),
    condition=any_of([*plan.conditions, *(ablation.name for ablation in plan.ablations)]),
    partition=any_of(partition.name for partition in plan.partitions.values()),
    shard="[0-9]+",
    shards="[0-9]+",
    clustering=any_of(plan.clusterings),
    paper=any_of(PAPERS),
    development=any_of(plan.developments),
