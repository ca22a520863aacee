"""A paper is its folder, its data, and a line of the registry: a third one is compared, planned, shown and listed."""

import shutil

import pytest

from tests.support.commands import run
from tests.support.configs import edited
from tests.support.places import ROOT
from tests.support.planning import PlanningError, planned_jobs
from tests.support.workplace import Workplace

PAPER = ROOT / "tests/support/nobody2030"
REGISTRY = "workflow_scripts/headtypes/papers/registry.py"
CONFIG = {
    "tasks": {"squad": {"source": {"hub": "some/questions"}}},
    "models": {"one": {"source": {"hub": "some/model"}, "tasks": ["squad"]}},
    "conditions": {"baseline": {}},
}
HEADS = "layer,head,cluster,type,silhouette,near,special,far,doubtful\n" + "".join(
    f"0,{head},{cluster},{name},0.5,0.2,0.3,0.5,False\n"
    for head, (cluster, name) in enumerate([(0, "dense"), (0, "dense"), (0, "dense"), (1, "vertical")])
)
COMPARE = """
from headtypes.papers.registry import PAPERS
paper = PAPERS["nobody2030"]
published = paper.read("../reference/nobody2030.yaml")
compared = paper.compare({"partitions": {("one", "squad-kmeans-k4"): "heads.csv"}}, published, {})
row = compared.table.set_index("kind").loc["claim"]
print(row["verdict"], row["ours"], row["published"], "the text has 41" in compared.page, len(compared.quantities))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Workplace:
    """A copy of the workflow with the third paper in it."""
    place = Workplace.copied(tmp_path_factory.mktemp("third"), CONFIG)
    ours = place.folder / "workflow_scripts/headtypes/papers/nobody2030"
    shutil.copytree(PAPER, ours, ignore=shutil.ignore_patterns("__pycache__", "*.yaml"))
    shutil.copy(PAPER / "nobody2030.yaml", place.folder / "reference")
    lines = place.text(REGISTRY).replace("KOBAYASHI2020)", "KOBAYASHI2020, NOBODY2030)")
    imported = "from headtypes.papers.nobody2030.paper import NOBODY2030\n"
    place.write({REGISTRY: lines.replace("from headtypes.papers.paper", f"{imported}from headtypes.papers.paper")})
    return place


def test_it_is_planned_and_the_page_of_results_waits_for_it(place):
    jobs = {(job.rule, *job.wildcards): job for job in planned_jobs(place.folder)}
    own = jobs["compare_with_paper", "nobody2030"]
    assert own.inputs == ("results/partitions/one/squad-kmeans-k4.csv", "reference/nobody2030.yaml")
    for page in ("write_summary", "write_ledger"):
        assert "results/nobody2030/comparison.csv" in jobs[page,].inputs


def test_its_claim_is_judged_beside_its_own_number(place):
    (place.folder / "workflow_scripts/heads.csv").write_text(HEADS)
    printed = run(["-c", COMPARE], place.folder / "workflow_scripts")
    assert printed.split() == ["fails", "75.0", "40.0", "True", "1"]


def test_models_may_name_its_row_and_no_other(place):
    with place.configured(edited(place.config, "models/one/published", {"nobody2030": "main"})):
        planned_jobs(place.folder)
    wrong = edited(place.config, "models/one/published", {"nobody2030": "side"})
    with place.configured(wrong), pytest.raises(PlanningError, match=r"published\.nobody2030"):
        planned_jobs(place.folder)


def test_the_documentation_lists_it(place):
    (place.folder / "listed.md").write_text((ROOT / "docs/lookup/outputs.md").read_text())
    run(["-m", "tests.docs.lists", "../listed.md"], place.folder / "workflow_scripts", PYTHONPATH=str(ROOT))
    assert "partition of every model (`nobody2030`)" in place.text("listed.md")
