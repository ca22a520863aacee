"""The one place that reaches behind Snakemake's public API.

The API plans and runs a workflow, but shows neither its rules nor its jobs. Snakemake's own commands read them from the
`Workflow` object that the API keeps to itself.
"""

from contextlib import AbstractContextManager

from snakemake.api import WorkflowApi
from snakemake.workflow import Workflow


def workflow_of(api: WorkflowApi) -> Workflow:
    """The workflow, with its rules; and with its jobs (`.dag`), once something has been planned."""
    return api._workflow


def remember(workflow: Workflow, outputs: set[str]) -> None:
    """Have Snakemake keep of the jobs of some results what it keeps of jobs that it has run."""
    # What was looked up for the plan may have been written since.
    workflow.iocache.deactivate()
    for job in workflow.dag.jobs:
        if not outputs.isdisjoint(map(str, job.output)):
            workflow.async_run(workflow.persistence.finished(job))


def locked(workflow: Workflow) -> AbstractContextManager:
    """Hold the locks with which Snakemake keeps other runs from what a plan would write."""
    return workflow.persistence.lock()
