"""Models that differ in a seed alone, judged together: planted means, rows of their own, and what is not judged."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from headtypes.papers.claims import Claims, Verdict, verdict_of
from headtypes.papers.comparison import COLUMNS, Subject, comparison_table, value_row
from headtypes.papers.published import Published
from headtypes.papers.quantities import Measured, NoVerdictError, Quantities, Quantity
from headtypes.papers.repeats import judged_together, mean_over

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


class Nobody(Published):
    @property
    def rows(self):
        return ()


def table(costs: dict[str, Measured], repeats: dict[str, list[str]]):
    published = Nobody(paper="Nobody (2030)", url="https://example.org", notes=[])
    theirs = Quantities({"cost": Measured(5.0)}, published=published)
    subjects = []
    for model, cost in costs.items():
        ours = Quantities({"cost": cost})
        values = [value_row("Table 1", "cost", "points", cost, 5.0, published)]
        subjects.append(Subject({"model": model, "task": "text"}, claim, ours, theirs, values))
    return comparison_table(subjects, ["model", "task", *COLUMNS], repeats)


def planted(*values: float) -> dict[str, Measured]:
    return {model: Measured.with_error(value, 1.0) for model, value in zip(MODELS, values, strict=True)}


def test_the_mean_has_the_variance_between_models_and_that_over_inputs():
    several = {name: Measured.with_error(value, 1.0) for name, value in zip("abcd", (1.0, 2.0, 4.0, 7.0), strict=True)}
    found = mean_over(list(several.values()))
    between, within = np.var([1, 2, 4, 7], ddof=1) / 4, 1.0
    freedom = 3 * ((between + within) / between) ** 2
    half = t.isf(0.025, freedom) * math.sqrt(between + within)
    assert (found.value, found.low, found.high) == pytest.approx((3.5, 3.5 - half, 3.5 + half))
    assert found.p_value(found.low, "above") == pytest.approx(0.05)
    articles = [
        replace(it, over="articles", units=units) for it, units in zip(several.values(), (9, 30, 9, 40), strict=True)
    ]
    assert (mean_over(articles).over, mean_over(articles).units) == ("models and articles", 9)
    alone = mean_over([Measured(value) for value in (1.0, 2.0, 4.0, 7.0)])
    half = t.isf(0.025, 3) * math.sqrt(between)
    assert (alone.low, alone.high) == pytest.approx((3.5 - half, 3.5 + half))
    assert math.isnan(mean_over([Measured(2.0)] * 3).low)


def test_claims_and_values_over_models_follow_those_of_each():
    costs = planted(10.0, 12.0, 11.0, 13.0, 11.0, 12.0) | {"other": Measured(50.0)}
    rows = table(costs, {NAME: MODELS})
    alone = table(costs, {})
    assert rows.iloc[: len(alone)].equals(alone)
    more = rows.iloc[len(alone) :].set_index("id")
    assert set(more["model"]) == {NAME}
    assert set(more["task"]) == {"text"}
    assert more["kind"].tolist() == ["claim over models", "claim over models", "figure over models"]
    assert more["verdict"].tolist() == ["holds", "holds", ""]
    mean = mean_over(list(planted(10.0, 12.0, 11.0, 13.0, 11.0, 12.0).values()))
    for id_ in ("costs", "cost"):
        row = more[more["kind"] == ("figure over models" if id_ == "cost" else "claim over models")].loc[id_]
        assert row[["ours", "low", "high", "published"]].tolist() == pytest.approx([11.5, mean.low, mean.high, 5.0])
    assert more.loc["costs", "remark"] == "in single models: holds in 6"
    assert more.loc["costs", "reason"].startswith("points, mean of 6 models: 11.50 (")


def test_what_holds_in_each_by_its_questions_need_not_hold_for_other_seeds():
    rows = table(planted(3.0, 60.0, 3.0, 3.0, 3.0, 3.0), {NAME: MODELS})
    verdicts = rows[rows["id"] == "costs"].set_index("model")["verdict"]
    assert verdicts[MODELS].tolist() == ["holds"] * 6
    assert verdicts[NAME] == "open"


def test_models_that_decide_nothing_are_left_out_and_counted():
    more = table(planted(10.0, 12.0, 95.0, 11.0, 10.0, 12.0), {NAME: MODELS}).set_index(["model", "id"]).loc[NAME]
    assert "mean of the 5 of 6 models that decide" in more.loc["some", "reason"]
    assert more.loc["some", "remark"] == "in single models: holds in 5 and no verdict in 1"
    more = table(planted(10.0, 95.0, 95.0, 11.0, 10.0, 12.0), {NAME: MODELS}).set_index(["model", "id"]).loc[NAME]
    assert (more.loc["some", "verdict"], more.loc["some", "reason"]) == ("no verdict", "too dear (2 of 6 models)")
    more = table(planted(10.0, 60.0, 60.0, 10.0, 11.0, 11.0), {NAME: MODELS}).set_index(["model", "id"]).loc[NAME]
    assert (more.loc["some", "verdict"], more.loc["some", "reason"]) == (
        "no verdict",
        "it asks for other findings in each of the models",
    )


def above_0(values: dict[str, float]) -> Verdict:
    """A verdict on a claim that each of these quantities is above 0."""
    findings = (Quantity(name, Measured.with_error(value, 0.1)).above(0) for name, value in values.items())
    return verdict_of(next(iter(claim)), tuple(findings))


def test_a_finding_that_a_model_lacks_does_not_move_its_others_to_those_of_other_models():
    of_models = [
        above_0({"first": 1.0, "second": 10.0}),
        above_0({"second": 11.0, "third": 100.0}),
        above_0({"first": 2.0, "[third]": 101.0}),
        *[above_0({"first": 3.0, "second": 12.0, "third": 102.0})] * 3,
    ]
    verdict = judged_together(of_models)
    assert [it.measured.value for it in verdict.findings] == pytest.approx([2.4, 11.4, 101.4])
    assert all("mean of the 5 of 6 models that decide" in it.quantity for it in verdict.findings)
    assert judged_together(of_models[:5]).verdict == "no verdict"


def test_four_models_are_not_judged_together():
    assert NAME not in set(table(planted(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), {NAME: MODELS[:4]})["model"])
