"""The three answers: rules on data whose truth is known, and cards that say what was not measured."""

import pandas as pd
import pytest

from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.pages.summary.answers import (
    NO,
    UNDECIDED,
    UNMEASURED,
    YES,
    matter_card,
    number_answer,
    number_card,
    types_answer,
    types_card,
)
from headtypes.papers.quantities import Measured
from tests.support.summaries import GAPS, MODEL, PARTITION, RESULTS, four_controlled, made_results

COUNTS = [28, 10, 15, 19]


@pytest.fixture(scope="module")
def partition(tmp_path_factory) -> Partition:
    return read_partition(made_results(tmp_path_factory.mktemp("results"))["partition"][MODEL, PARTITION])


@pytest.fixture(scope="module")
def table_2() -> pd.DataFrame:
    return four_controlled(pd.read_csv(RESULTS / "demo/table2.csv"))


def test_types_are_told_where_both_dips_are_and_denied_where_one_is_below():
    yes, no, unsure = (Measured.with_error(value, 1) for value in (3.0, -3.0, 0.5))
    assert types_answer([yes, yes]) == YES
    assert types_answer([yes, unsure]) == UNDECIDED
    assert types_answer([yes, no]) == NO
    # One of two is below 0 by chance more often.
    assert types_answer([unsure, Measured.with_error(-2.1, 1)]) == UNDECIDED


def test_a_number_is_right_if_all_criteria_choose_it_and_wrong_if_none_does():
    assert number_answer(4, [4, 4, 4, 4]) == YES
    assert number_answer(4, [3, 1, 3, 3]) == NO
    assert number_answer(4, [3, 1, 4, 3]) == UNDECIDED
    assert number_answer(4, [4, None, 4, 4]) == UNDECIDED == number_answer(4, [3, None, 3, 3])


def test_the_first_card_says_beside_the_number_what_it_takes(partition):
    halves = {half: {"all_agree": 90.0, "pairwise": 99.0} for half in ("heads", "samples")}
    stability = {"models": 10, **halves, "pairs": None, **GAPS}
    card = types_card(partition, stability, ["stability.json"])
    chance = 100 * sum((count / 72) ** 2 for count in (28, 10, 12, 22))
    assert card.answer == YES
    assert card.number == "p = 0.001 without gaps"
    assert card.says == "There are gaps between heads; clusterings of halves of the heads agree on 99 % of these."
    assert [(it.label, it.dot, it.bar) for it in card.marks] == [
        ("other inputs", 99, (90, 99)),
        ("other heads", 99, (90, 99)),
    ]
    assert all(it.tick == pytest.approx(chance) for it in card.marks)
    assert card.files == ["stability.json"]
    assert types_card(partition, stability | {"gaps": {"line": 20.0, "paths": 4.5}}, []).answer == UNDECIDED
    assert types_card(partition, stability | {"gaps": {"line": 20.0, "paths": 0.5}}, []).answer == NO
    assert types_card(partition, stability | {"gaps": None}, []).answer == UNMEASURED


def test_the_second_card_gives_the_range_of_what_criteria_choose():
    chosen = {"silhouette": 3, "heads": 5, "samples": None}
    card = number_card(4, chosen, [])
    assert (card.answer, card.number) == (UNDECIDED, "They choose 3 to 5")
    assert [it.text for it in card.marks] == ["3", "5"]
    assert [round(it.dot, 1) for it in card.marks] == [16.7, 50]
    assert number_card(3, dict.fromkeys(chosen, 3), []).number == "They choose 3"


@pytest.mark.parametrize(("k", "answer"), [(8, YES), (9, UNMEASURED), (64, UNMEASURED)])
def test_a_number_is_asked_for_among_those_that_were_compared(k, answer):
    assert number_card(k, dict.fromkeys(("silhouette", "heads", "samples"), 8), []).answer == answer


def test_what_was_not_measured_is_said_with_the_key_that_would(partition):
    cards = [
        types_card(partition, None, []),
        number_card(None, None, []),
        matter_card(MODEL),
    ]
    assert {(card.answer, card.number) for card in cards} == {(UNMEASURED, "")}
    keys = [
        "clustering: k",
        "clustering: k",
        f"models: {MODEL}: evaluate",
    ]
    assert all(key in card.why for key, card in zip(keys, cards, strict=True))
    assert not any(card.marks for card in cards)
