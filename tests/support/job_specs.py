"""The spec of every job, by the plan alone."""

from headtypes.core.files import canonical_json
from headtypes.core.stage import wildcards_of
from headtypes.planning.config import read_config
from headtypes.planning.plan import RESULTS, STAGES, Plan


def jobs_with_results(plan: Plan) -> dict[tuple, set[str]]:
    """The results of every job of a plan in which nothing is idle: (rule, its wildcards) -> paths."""
    jobs: dict[tuple, set[str]] = {}
    for result in RESULTS:
        for entry in result.of(plan) if result.of else ():
            wildcards = wildcards_of(result.path, entry)
            made = jobs.setdefault((result.rule, *wildcards.values()), set())
            made.update(path.format(**wildcards) for path in result.paths)
    return jobs


def all_specs(raw: dict) -> dict[tuple, str]:
    """The spec of every job of a configuration in which nothing is idle: (rule, its wildcards) -> canonical JSON."""
    plan = Plan(read_config(raw))
    return {job: canonical_json(STAGES[job[0]].spec(plan, *job[1:])) for job in jobs_with_results(plan)}
