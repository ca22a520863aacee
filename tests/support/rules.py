"""Rules of the workflow by what they do."""

from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan
from headtypes.planning.registry import RESULTS, STAGES

# And so take a GPU where there is one. `tests/unit/planning/test_stages.py` compares them with the rules' scripts.
RUN_A_MODEL = {name for name, stage in STAGES.items() if stage.runs_model}


def _of_texts() -> set[str]:
    """By a plan in which a model reads a text, and the task that it answers."""
    tasks = {
        "squad": {"source": {"hub": "some/questions"}},
        "news": {"kind": "text", "source": {"hub": "some/news"}},
    }
    model = {"source": {"hub": "some/one"}, "tasks": [*tasks], "evaluate": "squad"}
    plan = Plan(read_config({"tasks": tasks, "models": {"one": model}}))
    return {result.rule for result in RESULTS if result.of and result.of(plan) == plan.texts}


# Those whose results are declared for each model on a task of text, and for no other.
OF_TEXTS = _of_texts()
