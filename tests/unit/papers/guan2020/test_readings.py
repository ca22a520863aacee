"""Claims under every reading: which depend on one is found, and nothing else is said to."""

import pandas as pd

from headtypes.analyses.types.names import TYPES
from headtypes.analyses.types.partitions import Partition
from headtypes.papers.guan2020.comparison import CLAIMS
from headtypes.papers.guan2020.published import METRICS
from headtypes.papers.guan2020.readings import readings_page, readings_table, under_every_reading
from tests.support.planted import typed
from tests.unit.papers.guan2020.test_claims import REFERENCE, answers_with

KEY = ("bert", "p")
OF_ANSWERS = {claim.id for claim in CLAIMS if claim.place.startswith("section 5")}
CONDITIONS = {each.id: each for each in REFERENCE.conditions}


def partition(doubtful: tuple[str, ...] = ()) -> Partition:
    return typed([TYPES], doubtful, special=0.5)


def evaluation(number: int, reading: str | None = None, key=KEY) -> dict:
    name = f"condition {number}"
    return {
        "model": key[0],
        "partition": key[1],
        "condition": name if reading is None else f"{name}@{reading}",
        "base": name,
        "reading": reading,
        "operations": CONDITIONS[number].operations,
    }


def published(*numbers: int, key=KEY) -> list[tuple[dict, float]]:
    """Evaluations with the paper's own exact match, with which every claim holds."""
    return [(evaluation(n, key=key), CONDITIONS[n].exact_match) for n in numbers or CONDITIONS]


def judged(evaluations, readings=("segments",), partitions=None, half: dict[tuple, float] | None = None):
    """half: half of the width of the intervals of a partition."""
    scores: dict[tuple, dict[str, dict[str, float]]] = {}
    for row, score in evaluations:
        scores.setdefault((row["model"], row["partition"]), {})[row["condition"]] = dict.fromkeys(METRICS, score)
    answers = {key: answers_with(of, (half or {}).get(key)) for key, of in scores.items()}
    rows = [row for row, _ in evaluations]
    return readings_table(rows, readings, partitions or {KEY: partition()}, answers, REFERENCE)


def verdicts(table: pd.DataFrame, claim: str) -> dict[str, str]:
    return table[table["id"] == claim].set_index("reading")["verdict"].to_dict()


def depending(table: pd.DataFrame) -> set[str]:
    return set(table.loc[table["depends"], "id"])


def test_a_claim_whose_verdict_differs_under_one_reading_depends_on_it():
    breaks = evaluation(12, "renormalised"), 60
    table = judged([*published(), breaks], ["segments", "renormalised"])
    found = {"ablation": "holds", "segments": "holds", "renormalised": "fails"}
    assert verdicts(table, "drop_intra-diagonal-breaks") == found
    assert depending(table) == {"drop_intra-diagonal-breaks"}
    order = [claim.id for claim in CLAIMS if claim.id in OF_ANSWERS]
    assert list(dict.fromkeys(table["id"])) == order
    assert table["reading"].tolist() == list(found) * len(order)
    reasons = table[table["id"] == "drop_intra-diagonal-breaks"].set_index("reading")["reason"]
    assert "39.29" in reasons["renormalised"]
    assert reasons["segments"] == reasons["ablation"]


def test_a_condition_that_a_reading_cannot_change_counts_as_under_the_configs_own():
    # Under the reading condition 15 costs less than 14 does under the config's own, and 14 was not evaluated again.
    table = judged([(evaluation(15, "segments"), 81), *published(1, 14, 15)])
    assert verdicts(table, "dense_vertical-inter-over-intra") == {"ablation": "holds", "segments": "fails"}
    reason = table[table["reading"] == "segments"].iloc[0]["reason"]
    assert f"{80.28 - 81:.2f}" in reason
    # What another reading changes does not concern this one.
    table = judged([*published(1, 14, 15), (evaluation(15, "other"), 81)])
    assert verdicts(table, "dense_vertical-inter-over-intra") == {"ablation": "holds", "segments": "holds"}
    assert depending(table) == set()


def test_what_one_reading_denies_is_open_in_the_comparison():
    breaks = evaluation(12, "renormalised"), 60
    evaluations = [*published(1, 12, 13), breaks]
    readings = judged(evaluations, ["segments", "renormalised"])
    compared = readings[readings["reading"] == "ablation"].assign(kind="claim", verdict_holm="")
    found = under_every_reading(compared, readings).set_index("id")
    before = compared.set_index("id")
    assert set(before["verdict"]) == {"holds"}
    assert found.loc["drop_intra-diagonal-breaks", ["verdict", "verdict_holm"]].tolist() == ["open", "open"]
    said = "holds under ablation, holds under segments and fails under renormalised; "
    assert found.loc["drop_intra-diagonal-breaks", "reason"].startswith(said)
    same = found.drop(index="drop_intra-diagonal-breaks")
    pd.testing.assert_frame_equal(same, before.loc[same.index])
    # A reading under which nothing was evaluated denies nothing.
    alone = readings.assign(verdict=readings["verdict"].where(readings["reading"] == "ablation", "no verdict"))
    pd.testing.assert_frame_equal(under_every_reading(compared, alone), compared)


def test_claims_that_no_answer_decides_are_absent():
    table = judged(published(1, 3))
    assert set(table["id"]) == {"zero-diagonal-breaks"}
    # Shares and layers have a verdict without any answer.
    assert judged(published(3)).empty
    doubtful = judged(published(), partitions={KEY: partition(doubtful=("diagonal",))})
    assert set(doubtful["id"]) == {claim.id for claim in CLAIMS if "diagonal" not in claim.types} & OF_ANSWERS


def test_a_claim_that_only_one_reading_decides_is_there_and_depends():
    table = judged([*published(1), (evaluation(3, "segments"), 4)])
    assert verdicts(table, "zero-diagonal-breaks") == {"ablation": "no verdict", "segments": "holds"}
    assert depending(table) == {"zero-diagonal-breaks"}


def test_partitions_are_judged_apart_each_by_its_own_intervals():
    other = ("roberta", "p")
    evaluations = [*published(1, 12), *published(1, 12, key=other)]
    evaluations += [(evaluation(12, "segments", key=each), 60) for each in (KEY, other)]
    table = judged(evaluations, partitions={KEY: partition(), other: partition()}, half={KEY: 30})
    found = {model: verdicts(rows, "drop_intra-diagonal-breaks") for model, rows in table.groupby("model")}
    assert found == {
        "bert": {"ablation": "open", "segments": "open"},
        "roberta": {"ablation": "holds", "segments": "fails"},
    }


def test_a_page_has_a_section_per_partition_with_claims_that_depend_first():
    other = ("roberta", "p")
    evaluations = [*published(), *published(1, 3, key=other), (evaluation(19, "segments"), 1)]
    page = readings_page(judged(evaluations, partitions={KEY: partition(), other: partition()}))
    first, second = page.split("## bert, p\n")[1].split("## roberta, p\n")
    assert "The reading decides 1 of " in first
    assert "The reading decides 0 of 1 claims stated." in second
    lines = [line for line in first.splitlines() if "| section 5" in line]
    assert len(lines) == len(OF_ANSWERS)
    (depends,) = [each for each in CLAIMS if each.id == "dense_vertical-inter-mostly"]
    assert lines[0] == f"| stated | {depends.place} | {depends.text} | holds | fails |"
    assert all(line.endswith("| holds | holds |") for line in lines[1:])
