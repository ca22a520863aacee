from headtypes.pages.stage import models_with_atlas, results_of
from headtypes.planning.config import read_config
from headtypes.planning.plan import Plan
from tests.support.configs import full_config


def test_a_model_of_which_syntax_alone_was_measured_has_an_atlas(tmp_path):
    full = full_config(tmp_path)
    trees = next(name for name, task in full["tasks"].items() if task.get("kind") == "treebank")
    tasks = {"trees": full["tasks"][trees]}
    alone = {"tasks": tasks, "models": {"bert": {**full["models"]["base"], "tasks": ["trees"]}}, "conditions": {}}
    alone["models"]["bert"].pop("evaluate", None)
    plan = Plan(read_config(alone))
    assert models_with_atlas(plan) == ["bert"]
    assert results_of(plan, "relations", "bert").keys() == {"trees"}
    assert [results_of(plan, kind, "bert") for kind in ("features", "partitions", "stability", "intervals")] == [{}] * 4
