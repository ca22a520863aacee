"""Which properties of models go with a claim: what is planted is found, and what is not is found as rarely as said."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from headtypes.papers.ledger.models import FEWEST_FAMILIES, UNTRAINED
from headtypes.papers.ledger.properties import properties_of, properties_table
from headtypes.papers.quantities import FAILS, HOLDS, NO_VERDICT, OPEN


def made(verdicts: list[str], families: list[str] | None = None) -> pd.DataFrame:
    models = [f"m{number}" for number in range(len(verdicts))]
    return pd.DataFrame(
        {"paper": "p", "id": "c", "claim": "C.", "model": models, "family": families or models, "verdict": verdicts}
    )


def depths(number: int) -> pd.DataFrame:
    return pd.DataFrame({"layers": np.arange(number) + 1, "same": 1}, index=[f"m{it}" for it in range(number)])


def test_a_claim_that_is_true_of_deep_models_alone_goes_with_depth():
    table = properties_table(made([FAILS] * 5 + [OPEN] + [HOLDS] * 6), depths(12), seed=1)
    # What is the same in all models goes with nothing.
    assert table["property"].tolist() == ["layers"]
    expected = spearmanr(np.arange(12), [0] * 5 + [0.5] + [1] * 6)
    assert table["correlation"][0] == pytest.approx(expected.statistic)
    assert table["p_holm"][0] < 0.01


def test_a_property_goes_with_a_claim_by_chance_in_five_percent():
    rng = np.random.default_rng(4)
    found = [
        properties_table(made(rng.permutation([HOLDS] * 6 + [FAILS] * 6).tolist()), depths(12), seed=trial)["p"][0]
        for trial in range(300)
    ]
    assert np.mean(np.array(found) < 0.05) < 0.08


def test_models_of_one_family_count_as_one():
    verdicts, families = [HOLDS] * 8 + [FAILS] * 8, [f"f{number // 4}" for number in range(16)]
    assert properties_table(made(verdicts, families), depths(16), seed=1).empty
    assert not properties_table(made(verdicts), depths(16), seed=1).empty


def test_untrained_networks_and_models_without_a_verdict_do_not_count():
    verdicts = [FAILS] * 3 + [HOLDS] * 3
    table = properties_table(made(verdicts), depths(9), seed=1)
    more = made([*verdicts, HOLDS, HOLDS, NO_VERDICT])
    more.loc[[6, 7], "family"] = UNTRAINED
    pd.testing.assert_frame_equal(properties_table(more, depths(9), seed=1), table)
    assert table["families"].tolist() == [FEWEST_FAMILIES]
    assert properties_table(made([NO_VERDICT] * 9), depths(9), seed=1).empty


def test_properties_are_those_of_the_records():
    shape = {"parameters": 7, "layers": 2, "heads": 3}
    found = properties_of({name: {"causal": name == "llama", **shape} for name in ("bert", "llama")})
    assert found.loc["bert"].to_dict() == {"parameters": 7, "layers": 2, "heads": 6, "causal": 0}
    assert found["causal"].tolist() == [0, 1]
