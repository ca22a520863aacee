# What Snakemake asks of every job anew, although the answer is that of the rule: a third of the time of a large plan.

import gc
from inspect import isfunction, signature

from snakemake.common import overwrite_function_params


def functions_of(rule):
    """What Snakemake calls with the wildcards of each of a rule's jobs."""
    items = [getattr(item, "_file", item) for item in [*rule.input, *rule.params]]
    items = [getattr(item, "callable", item) for item in items]
    return filter(isfunction, [*items, *(resource._evaluator for resource in rule.resources.values())])


def remember_arguments(function):
    """Have Snakemake know which arguments a function takes, rather than look at its signature at every call."""
    overwrite_function_params(function, signature(function).parameters)


# The processes of jobs plan one job each.
if workflow.is_main_process:
    for it in workflow.rules:
        for function in functions_of(it):
            remember_arguments(function)
    # Resources of all names and values are asked for through this method.
    overwrite_function_params(Resource.evaluate, signature(Resource("", None).evaluate).parameters)
    # Where the copy of a script lies that it looks up three times for each job.
    workflow.sourcecache._cache = cache(workflow.sourcecache._cache)
    # Nearly all that is made for a plan stays: to look for garbage after every 700 objects takes a tenth of the time.
    gc.set_threshold(100_000)
