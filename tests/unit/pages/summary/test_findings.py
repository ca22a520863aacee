"""The three answers: rules on data whose truth is known, and cards that say what was not measured."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.company.results import read_costs, read_fit, read_labels
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.pages.summary.findings import (
    NO,
    UNDECIDED,
    UNMEASURED,
    YES,
    matter_card,
    number_card,
    types_answer,
    types_card,
)
from headtypes.pages.summary.overview import TypeCosts, left_out_alone
from tests.support.measured import with_error
from tests.support.summaries import (
    COMPANY,
    GAPS,
    MODEL,
    PARTITION,
    RESULTS,
    four_controlled,
    made_results,
    write_company,
)

CRITERIA = ("silhouette", "heads", "samples")


@pytest.fixture(scope="module")
def partition(tmp_path_factory) -> Partition:
    return read_partition(made_results(tmp_path_factory.mktemp("results"))["partition"][MODEL, PARTITION])


@pytest.fixture(scope="module")
def left_out(partition) -> TypeCosts:
    table_2 = four_controlled(pd.read_csv(RESULTS / "demo/table2.csv"))
    return left_out_alone(table_2, MODEL, PARTITION, partition.types)


def test_types_are_told_where_both_dips_are_and_denied_where_one_is_below():
    yes, no, unsure = map(with_error, (3.0, -3.0, 0.5))
    assert types_answer([yes, yes]) == YES
    assert types_answer([yes, unsure]) == UNDECIDED
    assert types_answer([yes, no]) == NO
    # One of two is below 0 by chance more often.
    assert types_answer([unsure, with_error(-2.1)]) == UNDECIDED


def test_a_number_is_right_if_all_criteria_choose_it_and_wrong_if_none_does():
    cases = {(4, 4, 4): YES, (3, 1, 3): NO, (1, 4, 3): UNDECIDED, (4, None, 4): UNDECIDED, (3, None, 3): UNDECIDED}
    assert {chosen: number_card(4, dict(zip(CRITERIA, chosen, strict=True)), []).answer for chosen in cases} == cases


def test_the_first_card_says_beside_the_number_what_it_takes(partition):
    halves = {half: {"all_agree": 90.0, "pairwise": 99.0} for half in ("heads", "samples")}
    stability = {"models": 10, **halves, "pairs": None, **GAPS}
    card = types_card(partition, stability, ["stability.json"])
    chance = 100 * sum((count / 72) ** 2 for count in (28, 10, 12, 22))
    assert card.answer == YES
    assert card.number == "Test for gaps: p = 0.001"
    assert card.says == "There are gaps between heads; clusterings of halves of the heads agree on 99 % of the heads."
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
    card = number_card(4, dict(zip(CRITERIA, (3, 5, None), strict=True)), [])
    assert (card.answer, card.number) == (UNDECIDED, "They choose 3 to 5 types")
    assert [it.text for it in card.marks] == ["3", "5"]
    assert [round(it.dot, 1) for it in card.marks] == [16.7, 50]
    assert number_card(3, dict.fromkeys(CRITERIA, 3), []).number == "They choose 3 types"


@pytest.mark.parametrize(("k", "answer"), [(8, YES), (9, UNMEASURED), (64, UNMEASURED)])
def test_a_number_is_asked_for_among_those_that_were_compared(k, answer):
    assert number_card(k, dict.fromkeys(CRITERIA, 8), []).answer == answer


def test_the_third_card_names_the_heads_that_matter_and_sets_types_beside_them(partition, left_out, tmp_path):
    write_company(tmp_path)
    read = zip((read_costs, read_fit, read_labels), COMPANY.values(), strict=True)
    found = costs, fit, labels = [read(tmp_path / file) for read, file in read]
    card = matter_card(MODEL, PARTITION, partition, found, left_out, ["company.csv"])
    assert card.answer == YES
    assert card.says == (
        "3-10 and 2-2 cost more than others of their layers. "
        "Types are not shown to differ beyond these heads (smallest p = 0.14)."
    )
    assert card.number == "3-10 most: 0.90 nats of loss (0.80 to 1.00)"
    assert "explain 87 % of the loss between sets (adjusted), and halves of the sets agree (r = 0.71)" in card.why
    assert "1 of 72 heads explains half of these costs." in card.why
    assert "2-2 and 3-10 together cost 0.75 nats beyond their costs, in 2 sets (p = 0.001)." in card.why
    # The heads of a type have a cost each, and a part of what a set costs, 6.0 by 6 heads.
    dense = costs.loc[(partition.type_of == "dense").ravel(), "cost_f1"].sum() + 28
    assert f"Left out whole, types cost dense 57.1 ({dense:.1f})" in card.why
    assert [mark.label for mark in card.marks][:2] == ["3-10", "2-2"]
    low, high = (float(end.split()[0]) for end in card.ends)
    assert low + card.marks[0].dot / 100 * (high - low) == pytest.approx(0.9, abs=0.01)
    differing = costs, fit, labels.assign(p_beyond=[0.02, 0.5, 0.5, 0.5])
    apart = matter_card(MODEL, PARTITION, partition, differing, left_out, [])
    assert apart.says.endswith("Types differ beyond these heads: dense (p = 0.020).")
    costs = costs.assign(p_holm=1.0)
    card = matter_card(MODEL, PARTITION, partition, (costs, fit, labels), None, [])
    assert (card.answer, "Left out whole" in card.why) == (UNDECIDED, False)
    assert card.says.startswith("No head is shown to cost more than others of its layer. Types are not")
    costs = costs.assign(layer=np.arange(72) // 4)
    deep = matter_card(MODEL, PARTITION, partition, (costs, fit, labels), None, [])
    assert "more than others of the model." in deep.says
    assert "than without another of the model" in deep.key


def test_what_was_not_measured_is_said_with_the_key_that_would(partition):
    cards = {
        types_card(partition, None, []): "clustering: k",
        number_card(None, None, []): "clustering: k",
        matter_card(MODEL, PARTITION, partition, None, None, []): f"models: {MODEL}: evaluate",
    }
    for card, key in cards.items():
        assert (card.answer, card.number, [*card.marks]) == (UNMEASURED, "", [])
        assert key in card.why
