# What Snakemake asks of every job anew, although the answer is that of the rule: a third of the time of a large plan.
# And how often it asks which jobs can run.

import gc
import threading
from inspect import isfunction, signature

from snakemake.common import overwrite_function_params
from snakemake.scheduling.job_scheduler import JobScheduler

# Held while the scheduler waits to look at the jobs again.
looks_again = threading.Lock()


def functions_of(rule):
    """What Snakemake calls with the wildcards of each of a rule's jobs."""
    items = [getattr(item, "_file", item) for item in [*rule.input, *rule.params]]
    items = [getattr(item, "callable", item) for item in items]
    return filter(isfunction, [*items, *(resource._evaluator for resource in rule.resources.values())])


def remember_arguments(function):
    """Have Snakemake know which arguments a function takes, rather than look at its signature at every call."""
    overwrite_function_params(function, signature(function).parameters)


def look_again(scheduler, seconds):
    """Have the scheduler look at the jobs again after a while, once.

    Each of its looks asks for another, and so does each job that ends: after 200 jobs there would be 200 a second.
    """
    if looks_again.acquire(blocking=False):
        threading.Timer(seconds, lambda: (looks_again.release(), scheduler._open_jobs.release())).start()


# The processes of jobs plan one job each.
if workflow.is_main_process:
    for it in workflow.rules:
        for function in functions_of(it):
            remember_arguments(function)
    JobScheduler._schedule_reevalutation = look_again
    # Resources of all names and values are asked for through this method.
    overwrite_function_params(Resource.evaluate, signature(Resource("", None).evaluate).parameters)
    # Where the copy of a script lies that it looks up three times for each job.
    workflow.sourcecache._cache = cache(workflow.sourcecache._cache)
    # Nearly all that is made for a plan stays: to look for garbage after every 700 objects takes a tenth of the time.
    gc.set_threshold(100_000)
