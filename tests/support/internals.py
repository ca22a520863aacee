"""The one place where tests reach behind Snakemake's public API, which shows neither its rules nor its jobs."""

from snakemake.api import WorkflowApi
from snakemake.workflow import Workflow


def workflow_of(api: WorkflowApi) -> Workflow:
    """The workflow, with its rules; and with its jobs (`.dag`), once something has been planned."""
    return api._workflow
