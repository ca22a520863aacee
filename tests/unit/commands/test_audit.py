"""The audit: what is missing, foreign, damaged or stale is named with its cause, and nothing else is."""

import json
from pathlib import Path

import pytest
import yaml

from commands.audit import Audit, main
from headtypes.core.files import write_text
from headtypes.planning.config import read_config
from headtypes.planning.plan import Plan
from headtypes.planning.provenance import beside
from tests.support.planned_results import FEATURES, SAMPLES, TABLE, TUNED, config


def found(plan, state=None) -> dict[str, str]:
    findings = Audit(plan).findings()
    return {it.path: it.why for it in findings if it.state != "missing" and state in (None, it.state)}


def test_results_of_this_configuration_are_as_they_should_be(plan):
    write_text("results/features/bert/qa.benchmark.tsv", "s\n1\n")
    write_text("results/report.html", "made on demand")
    assert found(plan) == {}


def test_what_is_not_there_is_missing_and_what_comes_from_it_is_stale(plan):
    Path(FEATURES).unlink()
    assert found(plan) == {TABLE: f"{FEATURES} is missing"}
    assert ("missing", FEATURES) in {(it.state, it.path) for it in Audit(plan).findings()}


@pytest.mark.parametrize(("file", "of"), [(SAMPLES, []), (f"{TUNED}/model.safetensors", [TUNED])])
def test_a_changed_byte_is_damage(plan, file, of):
    write_text(file, "other")
    assert list(found(plan, "damaged")) == [*of, file]
    assert list(found(plan, "stale")) == ([FEATURES, TABLE] if file == SAMPLES else [])


def test_weights_that_are_not_those_that_the_configuration_asks_for_are_told(plan):
    raw, model = config(), "results/sources/models/bert.json"
    for digest, told in (("1", []), ("2", [f"the model that was fetched has {'1' * 64}, by {model}, and not"])):
        raw["models"]["bert"]["source"]["sha256"] = digest * 64
        why = found(Plan(read_config(raw)))
        assert [text in why[model] for text in told] == [True] * len(why.keys() & {model})


def test_a_damaged_record_is_named(plan):
    beside(TABLE).write_text("{")
    assert found(plan) == {TABLE: f"the record of what made it, {beside(TABLE)}, is damaged"}


def test_another_value_and_another_code_are_told(plan):
    told = found(Plan(read_config(config(samples=6))))
    assert told[SAMPLES] == "samples: 5, now 6"
    assert list(told) == [FEATURES, TABLE, SAMPLES]
    record = json.loads(beside(TABLE).read_text())
    beside(TABLE).write_text(json.dumps(record | {"code": "0" * 64}))
    assert found(plan) == {TABLE: "its code has changed"}


def test_the_users_files_count_by_their_contents(plan):
    write_text("elsewhere.json", "{}")
    Path("qa.json").unlink()
    moved = found(Plan(read_config(config("elsewhere.json"))), "stale")
    assert not any("contents" in why for why in moved.values())
    write_text("qa.json", "{ }")
    assert found(plan)["results/sources/tasks/qa.jsonl"].startswith("the contents of qa.json have changed")


def test_what_nobody_asked_for_is_foreign(plan):
    write_text("results/notes.txt", "mine")
    assert found(plan) == {"results/notes.txt": "there is no record of what made it"}
    other = config()
    del other["models"]["tuned"]
    assert found(Plan(read_config(other)))[TUNED] == "it belongs to another configuration"


def test_only_what_is_stale_or_damaged_is_removed(tmp_path, capsys):
    for name in ("notes.txt", "samples/qa.jsonl"):
        write_text(f"results/{name}", "mine")
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config()))
    without = str(Path(__file__).parents[3] / "experiments/without_demo.yaml")
    assert main(["--remove", "--configfile", without, "mine.yaml"]) == 1
    assert f"damaged  {SAMPLES}: it has changed since it was made" in capsys.readouterr().out
    assert not any(Path(path).exists() or beside(path).exists() for path in (SAMPLES, FEATURES, TABLE))
    assert Path("results/notes.txt").exists()
    assert Path(TUNED).is_dir()
