import fcntl
import os
import re
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

SCRIPTS = Path(workflow.basedir) / "workflow_scripts"
sys.path.insert(0, str(SCRIPTS))

from headtypes.workflow import resources
from headtypes.workflow import specs
from headtypes.config.schema import read_config
from headtypes.workflow.digest import code_digest
from headtypes.base.errors import InputError
from headtypes.base.files import canonical_json
from headtypes.models.gpus import number_of_gpus
from headtypes.workflow.jobs import remember_code
from headtypes.workflow.plan import Plan
from headtypes.workflow.preview import remember_config
from headtypes.workflow.provenance import shards_of

if workflow.remote_exec:
    # A job on a cluster's node. Downloads are local jobs, and a node without network would wait for it.
    os.environ.update(HF_HUB_OFFLINE="1")

try:
    plan = Plan(read_config(config))
except InputError as error:
    raise WorkflowError(str(error)) from None


# Relative to the working directory: a folder that was moved has the same inputs.
GUAN = os.path.relpath(f"{workflow.basedir}/reference/guan2020.yaml")


def lift_stale_locks():
    """Remove the locks that a killed run left in the working directory; return what keeps a live run's locks.

    Snakemake cannot tell a lock of a killed run from that of a live one. The kernel can: it takes back a file lock
    when its process ends, however it ends. Every live run has a share of ours, so whoever gets it whole is alone.
    """
    folder = Path(".snakemake", "locks")
    folder.mkdir(parents=True, exist_ok=True)
    held = open(folder.with_name("run.lock"), "w")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pass
    except OSError:
        # A file system without such locks: nobody can know here that he is alone.
        return held
    else:
        for left in folder.glob("*.lock"):
            left.unlink()
    fcntl.flock(held, fcntl.LOCK_SH)
    return held


# Held until this process ends. Its jobs, some of them on other machines, have locks of nobody to lift.
run_lock = lift_stale_locks() if workflow.is_main_process else None


def spec(rule):
    """The parameter `spec`: what the rule depends on in the config, as canonical JSON."""
    return lambda wildcards: canonical_json(getattr(specs, rule)(plan, **wildcards))


def code(rule):
    """The parameter `code`: the digest of the rule's script and of what it imports."""
    return code_digest(SCRIPTS / f"{rule}.py")


def needs(rule):
    """What the jobs of a rule ask for; of memory and time twice as much with every further attempt.

    Snakemake calls the functions again when the inputs are there, and shows <TBD> until then.
    """

    def of_job(wildcards, input):
        return resources.needs(plan, rule, wildcards, input, on_gpu=bool(gpu(wildcards, input)))

    def gpu(wildcards, input):
        return gpus_of_a_model() if resources.runs_model(rule, input) else 0

    def gpu_model(wildcards, input):
        # Snakemake's executor for Slurm asks for GPUs wherever a model of them is named, were it for none of them.
        named = default_resource("gpu_model").raw
        return named.strip("'\"") if named and gpu(wildcards, input) else None

    return {
        "mem_mb": lambda wildcards, input, attempt: resources.grown(of_job(wildcards, input).mem_mb, attempt),
        "runtime": lambda wildcards, input, attempt: resources.grown(of_job(wildcards, input).minutes, attempt),
        "gpu": gpu,
        "gpu_model": gpu_model,
    }


def default_resource(name):
    """What `default-resources` say of a resource, if anything."""
    return workflow.resource_settings._parsed_default_resources.get(name)


def gpus_of_a_model():
    """GPUs for a job that runs a model: as `default-resources` say; else one, if it runs here and here is one."""
    default = default_resource("gpu")
    if default.is_evaluable():
        return 1
    if default.value is not None:
        return default.value
    return int(workflow.local_exec and not workflow.remote_exec and number_of_gpus() > 0)


def any_of(names):
    """A wildcard constraint: one of the names, or nothing where there are none."""
    return "|".join(re.escape(name) for name in names) or "(?!)"


def clustered():
    """The partitions that clustering makes."""
    return [each for each in plan.partitions.values() if each.method is not None]


def brought():
    """The partitions that the user brings."""
    return [each for each in plan.partitions.values() if each.method is None]


def of_task(pattern):
    """An input that belongs to the model and to the task of a partition."""
    return lambda wildcards: pattern.format(
        model=wildcards.model,
        task=plan.partitions[wildcards.model, wildcards.partition].task,
    )


def head_outputs_of(wildcards):
    """The mean outputs of the model's heads, where the condition needs them."""
    condition, _ = plan.reading(wildcards.condition)
    if not plan.needs_head_outputs(condition):
        return []
    return of_task("results/head_outputs/{model}/{task}.h5")(wildcards)


def parts_of(result, part):
    """The shards that a result is joined from: as many as it was, if it is there, since it does not depend on their
    number; else as many as the config says, or none where one job does it all.
    """

    def paths(wildcards):
        shards = shards_of(result.format(**wildcards)) or plan.shards
        numbers = range(shards) if shards > 1 else ()
        return [part.format(shard=number, shards=shards, **wildcards) for number in numbers]

    return paths


def scores_of(ablation):
    """The scores of each question of an evaluation."""
    return f"results/ablation/{ablation.model}/{ablation.partition}/{ablation.name}/per_question.parquet"


def baseline_of(ablation):
    """The scores of each question when nothing is done, of the model and partition of an evaluation."""
    name = plan.baseline(ablation.model, ablation.partition)
    return f"results/ablation/{ablation.model}/{ablation.partition}/{name}/per_question.parquet"


def remember_code_of(rules):
    """Write what the digests of the rules are made of, so that a later change can be told to the module."""
    for each in rules:
        if not each.norun:
            remember_code(SCRIPTS / f"{each.name}.py")


# As many jobs at a time as there are GPUs, unless --resources says otherwise. On a cluster, where `nodes` are given, it
# limits only what runs at a time within each job that is submitted, since that may be a group.
if "gpu" not in workflow.global_resources:
    workflow.register_resource("gpu", max(1, number_of_gpus()) if workflow.resource_settings.nodes is None else 1)


resource_scopes:
    gpu="local",
    runtime="local",


wildcard_constraints:
    # A model that another is made from, and the task it learns, need not be selected.
    model=any_of(plan.config.models),
    task=any_of(plan.config.tasks),
    condition=any_of(dict.fromkeys([*plan.conditions, *(each.name for each in plan.ablations)])),
    partition=any_of(dict.fromkeys(each.name for each in plan.partitions.values())),
    shard="[0-9]+",
    shards="[0-9]+",
