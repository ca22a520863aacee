"""The three answers: rules on data whose truth is known, and cards that say what was not measured."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax

from headtypes.analyses.company.results import read_costs, read_fit, read_labels
from headtypes.analyses.types.clustering import fit
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.analyses.types.stability import draw_references, gap_statistic, log_within, measure_stability
from headtypes.pages.summary.answers import (
    NO,
    UNDECIDED,
    UNMEASURED,
    YES,
    Company,
    matter_card,
    number_answer,
    number_card,
    types_answer,
    types_card,
)
from headtypes.papers.quantities import Measured
from tests.support.summaries import (
    COMPANY,
    GAP,
    MODEL,
    PARTITION,
    RESULTS,
    four_controlled,
    made_results,
    write_company,
)

COUNTS = [28, 10, 15, 19]


@pytest.fixture(scope="module")
def partition(tmp_path_factory) -> Partition:
    return read_partition(made_results(tmp_path_factory.mktemp("results"))["partition"][MODEL, PARTITION])


@pytest.fixture(scope="module")
def table_2() -> pd.DataFrame:
    return four_controlled(pd.read_csv(RESULTS / "demo/table2.csv"))


def planted(kind: str, rng: np.random.Generator) -> np.ndarray:
    """72 heads in four groups; or in none: about one mean, or along a curve, or spread evenly."""
    match kind:
        case "groups":
            return 8 * np.repeat(np.eye(4, 6), COUNTS, axis=0) / np.sqrt(2) + rng.normal(size=(72, 6))
        case "mean":
            return rng.normal(size=(72, 6)) * [5, 4, 2, 1, 1, 1]
        case "curve":
            angle = rng.uniform(0, np.pi, 72)
            return np.stack([np.cos(angle), np.sin(angle)], axis=1) / 2 + 0.05 * rng.normal(size=(72, 2))
        case _:
            return rng.uniform(size=(72, 5)) * [1, 0.8, 0.5, 0.2, 0.1]


def answer_of(kind: str, seed: int) -> str:
    points = softmax(planted(kind, np.random.default_rng(seed)), axis=1)
    references = list(draw_references(points, 10, seed))
    settings = {"method": "kmeans", "k": 4, "scale": False, "seed": seed}
    one, four = (log_within(points, references, method="kmeans", k=k, restarts=3, seed=seed) for k in (1, 4))
    labels = fit(points, restarts=20, **settings)
    stability = measure_stability(np.stack([points, points]), labels, models=10, restarts=5, pairs=False, **settings)
    chance = 100 * ((np.bincount(labels) / 72) ** 2).sum()
    kappa = (stability["heads"]["pairwise"] - chance) / (100 - chance)
    return types_answer(Measured.with_error(*gap_statistic(four[0] - one[0], four[1] - one[1]), 9), kappa)


@pytest.mark.parametrize("kind", ["groups", "mean", "curve", "box"])
def test_types_are_found_where_they_are_planted_and_nowhere_else(kind):
    """A curve gains from being divided, and one mean is stably cut: it takes both to have types."""
    found = {answer_of(kind, seed) for seed in range(3)}
    assert found == {YES} if kind == "groups" else YES not in found


def test_types_are_denied_only_where_the_whole_interval_is_below_the_limit():
    assert types_answer(Measured.with_error(-0.3, 0.1), 1.0) == NO
    assert types_answer(Measured.with_error(-0.1, 0.1), 1.0) == UNDECIDED
    assert types_answer(Measured.with_error(0.3, 0.1), 0.95) == UNDECIDED
    assert types_answer(Measured.with_error(0.3, 0.1), 0.96) == YES


def test_a_number_is_right_if_all_criteria_choose_it_and_wrong_if_none_does():
    assert number_answer(4, [4, 4, 4, 4]) == YES
    assert number_answer(4, [3, 1, 3, 3]) == NO
    assert number_answer(4, [3, 1, 4, 3]) == UNDECIDED
    assert number_answer(4, [4, None, 4, 4]) == UNDECIDED == number_answer(4, [3, None, 3, 3])


def test_the_first_card_says_beside_the_number_what_it_takes(partition):
    halves = {half: {"all_agree": 90.0, "pairwise": 99.0} for half in ("heads", "samples")}
    stability = {"models": 10, **halves, "pairs": None, **GAP}
    card = types_card(partition, stability, ["stability.json"])
    chance = 100 * sum((count / 72) ** 2 for count in (28, 10, 12, 22))
    assert (card.answer, card.number) == (YES, "gap 0.30 (0.20 to 0.40)")
    assert card.says.endswith("halves of the heads are divided alike (99 % agree).")
    assert f"random halves of the heads agree on at least {chance + 0.96 * (100 - chance):.0f} % of heads" in card.why
    assert [(it.label, it.dot, it.bar) for it in card.marks] == [
        ("other inputs", 99, (90, 99)),
        ("other heads", 99, (90, 99)),
    ]
    assert all(it.tick == pytest.approx(chance) for it in card.marks)
    assert card.files == ["stability.json"]
    stability["heads"] = {"all_agree": 50.0, "pairwise": 80.0}
    assert types_card(partition, stability, []).answer == UNDECIDED
    assert types_card(partition, stability | {"gap": -0.3}, []).answer == NO


def test_the_second_card_gives_the_range_of_what_criteria_choose():
    chosen = {"silhouette": 3, "gap": 1, "heads": 3, "samples": None}
    card = number_card(4, chosen, [])
    assert (card.answer, card.number) == (UNDECIDED, "They choose 1 to 3")
    assert [it.text for it in card.marks] == ["3", "1", "3"]
    assert [round(it.dot, 1) for it in card.marks] == [28.6, 0, 28.6]
    assert number_card(3, chosen | {"gap": 3, "samples": 3}, []).number == "They choose 3"


def company(folder) -> Company:
    write_company(folder)
    read = zip((read_costs, read_fit, read_labels), COMPANY.values(), strict=True)
    return Company(*(read(folder / file) for read, file in read))


def test_the_third_card_names_the_heads_that_matter_and_sets_types_beside_them(partition, table_2, tmp_path):
    found = company(tmp_path)
    card = matter_card(MODEL, PARTITION, partition, found, table_2, ["company.csv"])
    assert card.answer == YES
    assert card.says == (
        "Heads 3-10 and 2-2 do. Of these, 1 head explains half of what costs of all 72 do. "
        "That costs differ by type beyond these heads is not shown (p is at least 0.140)."
    )
    assert card.number == "3-10: 0.90 nats (0.80 to 1.00)"
    assert "explain 87 % of the loss between sets (adjusted), and halves of the sets agree (r = 0.71)" in card.why
    assert "2-2 and 3-10 together cost 0.75 nats beyond their costs, in 2 sets (p = 0.001)." in card.why
    # The heads of a type have a cost each, and a part of what a set costs, 6.0 by 6 heads.
    dense = found.costs.loc[(partition.type_of == "dense").ravel(), "cost_f1"].sum() + 28
    assert f"Left out whole, types cost dense 57.1 ({dense:.1f})" in card.why
    assert [mark.label for mark in card.marks][:2] == ["3-10", "2-2"]
    low, high = (float(end.split()[0]) for end in card.ends)
    assert low + card.marks[0].dot / 100 * (high - low) == pytest.approx(0.9, abs=0.01)
    labels = found.labels.assign(p_beyond=[0.02, 0.5, 0.5, 0.5])
    apart = matter_card(MODEL, PARTITION, partition, found._replace(labels=labels), table_2, [])
    assert apart.says.endswith("Costs differ by type beyond these heads: dense (p = 0.020).")
    none = found._replace(costs=found.costs.assign(p_holm=1.0))
    card = matter_card(MODEL, PARTITION, partition, none, None, [])
    assert (card.answer, "Left out whole" in card.why) == (UNDECIDED, False)
    assert card.says.startswith("No head is shown to matter more than others of its layer. That costs")


def test_what_was_not_measured_is_said_with_the_key_that_would(partition):
    cards = [
        types_card(partition, None, []),
        number_card(None, None, []),
        matter_card(MODEL, PARTITION, partition, None, None, []),
    ]
    assert {(card.answer, card.number) for card in cards} == {(UNMEASURED, "")}
    keys = [
        "clustering: k",
        "clustering: k",
        f"models: {MODEL}: evaluate",
    ]
    assert all(key in card.why for key, card in zip(keys, cards, strict=True))
    assert not any(card.marks for card in cards)
