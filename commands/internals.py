"""The one place that reaches behind Snakemake's public API.

The API plans and runs a workflow, but shows neither its rules nor its jobs. Snakemake's own commands read them from the
`Workflow` object that the API keeps to itself.
"""

from snakemake.api import WorkflowApi
from snakemake.workflow import Workflow


def workflow_of(api: WorkflowApi) -> Workflow:
    """The workflow, with its rules; and with its jobs (`.dag`), once something has been planned."""
    return api._workflow
