"""Models that differ in a seed alone, judged together by what holds in each, with rows and means of their own."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm, t

from headtypes.papers.claims import Claims, Measured, NoVerdictError, Quantities, Quantity, Verdict, judge
from headtypes.papers.comparison import COLUMNS, Subject, comparison_table, judged_together, mean_over_models, value_row
from headtypes.papers.paper import Published
from tests.support.measured import with_error

NAME = "bert-{seed}"
MODELS = [f"bert-{seed}" for seed in range(6)]
claim = Claims("heads")


claim(
    "costs",
    place="Table 1",
    text="It costs.",
    wording="is costly",
    limit="above 0",
    ask=lambda quantities: quantities.quantity("cost", "points").above(0),
)


def _some(quantities):
    if "cost" in quantities and quantities["cost"].value > 90:
        raise NoVerdictError("too dear")
    return quantities.quantity("cost", "points").above(1 if quantities["cost"].value < 50 else 2)


claim("some", place="Table 1", text="Some do.", wording="some", limit="above 1, or 2 where there are many", ask=_some)


def table(costs: dict[str, Measured], repeats: dict[str, list[str]]):
    published = Published(paper="Nobody (2030)", url="https://example.org", model="none", notes=[])
    theirs = Quantities({"cost": Measured(5.0)}, published=published)
    subjects = []
    for model, cost in costs.items():
        ours = Quantities({"cost": cost})
        values = [value_row("Table 1", "cost", "points", cost, 5.0)]
        subjects.append(Subject({"model": model, "task": "text"}, claim, ours, theirs, values))
    return comparison_table(subjects, ["model", "task", *COLUMNS], repeats)


def planted(*values: float) -> dict[str, Measured]:
    return {model: with_error(value) for model, value in zip(MODELS, values, strict=False)}


def test_the_mean_has_the_variance_between_models_and_that_over_inputs():
    several = list(map(with_error, (1.0, 2.0, 4.0, 7.0)))
    found = mean_over_models(several)
    between, within = np.var([1, 2, 4, 7], ddof=1) / 4, 1.0
    freedom = 3 * ((between + within) / between) ** 2
    half = t.isf(0.025, freedom) * math.sqrt(between + within)
    assert (found.value, found.low, found.high) == pytest.approx((3.5, 3.5 - half, 3.5 + half))
    assert found.p_value is None
    assert mean_over_models([replace(it, over="articles") for it in several]).over == "models and articles"
    alone = mean_over_models([Measured(value) for value in (1.0, 2.0, 4.0, 7.0)])
    half = t.isf(0.025, 3) * math.sqrt(between)
    assert (alone.low, alone.high) == pytest.approx((3.5 - half, 3.5 + half))
    assert math.isnan(mean_over_models([Measured(2.0)] * 3).low)


def test_claims_and_values_over_models_follow_those_of_each():
    costs = planted(10.0, 12.0, 11.0, 13.0, 11.0, 12.0) | {"other": Measured(50.0)}
    rows = table(costs, {NAME: MODELS})
    alone = table(costs, {})
    assert rows.iloc[: len(alone)].equals(alone)
    more = rows.iloc[len(alone) :].set_index("id")
    assert set(zip(more["model"], more["task"], strict=True)) == {(NAME, "text")}
    assert more["kind"].tolist() == ["claim over models", "claim over models", "figure over models"]
    assert more["verdict"].tolist() == ["holds", "holds", ""]
    mean = mean_over_models(list(planted(10.0, 12.0, 11.0, 13.0, 11.0, 12.0).values()))
    for id_ in ("costs", "cost"):
        row = more[more["kind"] == ("figure over models" if id_ == "cost" else "claim over models")].loc[id_]
        assert row[["ours", "low", "high", "published"]].tolist() == pytest.approx([11.5, mean.low, mean.high, 5.0])
    assert more.loc["costs", ["p", "p_holm"]].isna().all()
    assert more.loc["costs", "verdict_holm"] == ""
    assert more.loc["costs", "reason"] == "in single models, by p below 0.05: holds in 6"
    assert more.loc["costs", "remark"].startswith("beside it, points, mean of the models: 11.50 (")


def over(*values: float) -> list[str]:
    rows = table(planted(*values), {NAME: MODELS[: len(values)]})
    return rows[rows["id"] == "costs"].set_index("model").loc[NAME, ["verdict", "reason"]].tolist()


def test_a_claim_over_models_is_open_unless_it_holds_or_fails_in_each():
    assert over(-3.0, -60.0, -3.0, -3.0, -3.0) == ["fails", "in single models, by p below 0.0375: fails in 5"]
    assert over(3.0, 60.0, -3.0, 3.0, 3.0)[0] == "open"
    found = over(3.0, 60.0, 1.0, 3.0, 3.0, 3.0)
    assert found == ["open", "in single models, by p below 0.05: holds in 5 and open in 1"]


def test_five_models_need_a_smaller_p_than_one_so_that_chance_and_errors_give_five_percent_together():
    for models, p in ((5, 0.0375), (6, 0.05)):
        assert 0.5**models + (1 - 0.5**models) * p / 2 <= 0.05
        far, within, beyond = (norm.isf(each / 2) for each in (1e-6, p + 0.001, p - 0.001))
        assert over(*[far] * (models - 1), within)[0] == "open"
        assert over(*[far] * (models - 1), beyond)[0] == "holds"
        assert over(*[-far] * (models - 1), -beyond)[0] == "fails"


def test_models_that_decide_nothing_are_left_out_and_counted():
    more = table(planted(10.0, 12.0, 95.0, 11.0, 10.0, 12.0), {NAME: MODELS}).set_index(["model", "id"]).loc[NAME]
    assert more.loc["some", "reason"] == "in single models, by p below 0.0375: holds in 5 and no verdict in 1"
    assert (more.loc["some", "verdict"], more.loc["some", "ours"]) == ("holds", 11.0)
    more = table(planted(10.0, 95.0, 95.0, 11.0, 10.0, 12.0), {NAME: MODELS}).set_index(["model", "id"]).loc[NAME]
    assert (more.loc["some", "verdict"], more.loc["some", "reason"]) == ("no verdict", "too dear (2 of 6 models)")


def test_models_that_are_asked_for_other_findings_are_judged_and_have_no_mean():
    more = table(planted(10.0, 60.0, 60.0, 10.0, 11.0, 11.0), {NAME: MODELS}).set_index(["model", "id"]).loc[NAME]
    assert more.loc["some", ["verdict", "remark", "verdict_holm"]].tolist() == ["holds", "", ""]
    assert math.isnan(more.loc["some", "ours"])


def test_one_of_several_findings_fails_by_a_p_that_is_corrected_for_their_number():
    def verdict(low: float) -> Verdict:
        found = [Quantity("", with_error(it)).above(0) for it in (low, 9.0)]
        return judge(replace(claim[0], ask=lambda quantities: found), Quantities({}))

    for p, expected in ((0.0185, "fails"), (0.019, "open")):
        low = verdict(-norm.isf(p / 2))
        assert low.verdict == "fails"
        assert judged_together([verdict(-9.0)] * 4 + [low]).verdict == expected


def test_four_models_are_not_judged_together():
    assert NAME not in set(table(planted(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), {NAME: MODELS[:4]})["model"])
