import os
import re
import sys
from functools import cache
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.resources import Resources

# The root of this workflow, even if another one uses it as a module.
ROOT = Path(workflow.current_basedir).parent
SCRIPTS = ROOT / "workflow_scripts"
sys.path.insert(0, str(SCRIPTS))

from headtypes.analyses.coreference.analysis import COREFERENCE
from headtypes.analyses.divergence.analysis import DIVERGENCE
from headtypes.analyses.registry import ANALYSES
from headtypes.analyses.relations.analysis import RELATIONS
from headtypes.core.errors import InputError
from headtypes.core.files import canonical_json
from headtypes.planning.config.files import laid_over
from headtypes.planning.config.schema import read_config
from headtypes.models.gpus import number_of_gpus
from headtypes.planning.tools.demands import check_models, demands_as_text
from headtypes.planning.tools.notes import notes_on
from headtypes.planning import locks
from headtypes.planning import resources
from headtypes.planning.code.digest import code_digest
from headtypes.planning.code.running import find_first, remember_code
from headtypes.planning.tools.history import remember_config, remember_shards, remembered_shards
from headtypes.planning.plan import Plan
from headtypes.planning.results import paths
from headtypes.planning.provenance import contents_of, forget_joined, results_folder, shards_of
from headtypes.planning.stages.overview import atlas
from headtypes.planning.stages.overview import summary
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
    plan = Plan(read_config(layers.values, layers.removed))
    in_use = locks.run_beside() if workflow.is_main_process else None
except InputError as error:
    raise WorkflowError(str(error)) from None

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
    keyed = KEYED.get(rule)
    if keyed is None:
        return parameters
    # With other keys, the inputs differ, and they count; nothing that asks for `output` does.
    keys = {name: list(files.items()) for name, files in keyed.items()}
    return parameters | {"keyed": lambda wildcards, output: canonical_json(keys)}


@cache
def code_of(script):
    """The digest of a script and of what it imports."""
    return code_digest(SCRIPTS / f"{script}.py")


def needs(wildcards, input, rulename):
    """What a job asks for; Snakemake asks again once the inputs exist, and shows <TBD> until then."""
    return resources.needs(plan, stage_of(rulename), wildcards, input, on_gpu=bool(gpus(wildcards, input, rulename)))


def gpus(wildcards, input, rulename):
    """The number of GPUs that a job asks for."""
    return gpus_of_a_model() if resources.runs_model(stage_of(rulename), input) else 0


def gpu_model(wildcards, input, rulename):
    """The model of GPU that a job asks for; Slurm's executor requests a GPU wherever one is named, even with gpu=0."""
    return GPU_MODEL if gpus(wildcards, input, rulename) else None


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


def of_user(files):
    """Files of the user's, to which a prefix does not apply; what they hold decides, and not how old they are."""
    return [ancient(local(file)) for file in files]


def of_each(pattern, entries):
    """The path of a result for each entry of the plan, in their order."""
    return [path for entry in entries for path in expand(pattern, **entry.wildcards)]


def each(pattern, entries):
    """The path of a result for each entry of the plan, by the entry's key."""
    return {entry.key: path for entry in entries for path in expand(pattern, **entry.wildcards)}


# Of each rule that has them, the inputs of which there are many of a kind.
KEYED = {}


def keyed(rule, **inputs):
    """Inputs that are many files of a kind, which a job finds by their keys: {key: path} (`each`)."""
    KEYED[rule] = {name: inputs[name] for name in inputs}
    return {name: list(files.values()) for name, files in inputs.items()}


def of_task(pattern):
    """An input function: the path for a partition's model and task."""
    return lambda wildcards: pattern.format(
        model=wildcards.model,
        task=plan.partitions[wildcards.model, wildcards.partition].task,
    )


def of_controls(pattern):
    """An input function: the path for each condition of a partition that has random heads beside it."""
    return lambda wildcards: of_each(pattern, plan.controlled_of(wildcards.model, wildcards.partition))


def of_baseline(pattern):
    """An input function: the path for the evaluation that does nothing to a partition's heads."""
    return lambda wildcards: of_each(pattern, [plan.baseline(wildcards.model, wildcards.partition)])


def of_clustered(pattern):
    """An input function: the path for a partition that clustering makes; nothing for an imported one."""
    return lambda wildcards: pattern if plan.partitions[wildcards.model, wildcards.partition].method else []


def made_from(model):
    """A model and those that it is fine-tuned from, the nearest first."""
    made = plan.finetuned(model)
    return [model, *(made_from(made.base) if made else [])]


def of_test(task):
    """The sentences on which choices made on a treebank are scored, if it has a file of them."""
    return paths.TEST_ROWS.format(task=task) if plan.files.of_test(task) else []


def head_outputs_of(wildcards):
    """The mean outputs of the model's heads, where the condition replaces a head's output by its mean."""
    condition, _ = plan.reading(wildcards.condition)
    if not plan.needs_head_outputs(condition):
        return []
    return of_task(paths.HEAD_OUTPUTS)(wildcards)


def guesses_of(wildcards):
    """What every head guesses on a task: the heads of words in a treebank, or the antecedents of mentions."""
    return (paths.ARCS if plan.is_treebank(wildcards.task) else paths.ANTECEDENTS).format(**wildcards)


def best_of(wildcards):
    """Which heads are the best on a task: for the relations of a treebank, or for the antecedents of mentions."""
    return (paths.RELATIONS_BEST if plan.is_treebank(wildcards.task) else paths.COREFERENCE).format(**wildcards)


def texts_of_gradients(wildcards):
    """The samples of a task of texts; the questions, or pairs, of a task that the model answers."""
    return (paths.SAMPLES if plan.is_text(wildcards.task) else paths.QUESTIONS).format(task=wildcards.task)


def windows_of_gradients(wildcards):
    """The windows of a task that the model answers."""
    return [] if plan.is_text(wildcards.task) else paths.WINDOWS.format(**wildcards)


def shown_partition(wildcards):
    """The partition whose types Clark's Figure 6 shows, where the model has one on this task."""
    partition = plan.shown_partition(wildcards.model, wildcards.task)
    return [] if partition is None else of_each(paths.PARTITION, [partition])


def of_analysis(analysis, pattern=None):
    """An input function: the path for the model on each of its tasks that an analysis is of; that of its first file."""
    return lambda wildcards: of_each(
        pattern or analysis.files[0].path,
        plan.files_of(analysis, wildcards.model, wildcards.get("partition")),
    )


def of_left_out(pattern):
    """An input function: the path for each condition of one type that a partition has random heads for."""
    return lambda wildcards: of_each(pattern, plan.left_out(wildcards.model, wildcards.partition))


def in_atlas(kind):
    """An input function: the paths of a kind of result that the model's atlas shows."""
    return lambda wildcards: of_each(atlas.SHOWN[kind].path, atlas.results_of(plan, wildcards.model).get(kind, []))


OF_CLARK = "Figures of Clark et al."


def figure(path, caption, name, content, category="Figures", suffix=""):
    """The outputs of a figure: PDF, and PNG with its entry in the report."""
    *_, of = re.findall(r"\{\w+\}", path)
    labels = {"figure": name, "task" if category == OF_CLARK else "partition": of, "content": content}
    subcategory = "{model}" if "{model}" in path else "all models"
    entry = {"caption": f"../report/{caption}.rst", "category": category, "subcategory": subcategory}
    return {f"pdf{suffix}": f"{path}.pdf", f"png{suffix}": report(f"{path}.png", **entry, labels=labels)}


def table(path, caption, name, content, category="Tables", suffix=""):
    """The outputs of a table: CSV, Markdown, and HTML with its entry in the report."""
    entry = {"caption": f"../report/{caption}.rst", "category": category}
    html = report(f"{path}.html", **entry, labels={"table": name, "content": content})
    return {f"csv{suffix}": f"{path}.csv", f"markdown{suffix}": f"{path}.md", f"html{suffix}": html}


def result_of(rule, wildcards):
    """The first output of a job, as Snakemake has it, with the prefix that another workflow may give."""
    return expand(getattr(rules, rule).output[0], **wildcards)[0]


def parts_of(whole, shard):
    """The shards that the first output of the rule `whole` is joined from, which the rule `shard` makes.

    A result does not depend on their number, so one that exists keeps the number it was joined from; a new one takes
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


def build_dag(build=workflow._build_dag):
    """Build the DAG and, if this is a run, join those of the directory before Snakemake looks for locks in it."""
    build()
    if workflow.executor_plugin is not None and not workflow.dryrun:
        locks.join_run()


# Before Snakemake locks the directory, nothing else tells a run from a dry run or from --lint.
if workflow.is_main_process:
    workflow._build_dag = build_dag


def refuse_orphans():
    """End the run where a job of a killed one is still alive."""
    try:
        locks.refuse_orphans()
    except InputError as error:
        raise WorkflowError(str(error)) from None


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
