"""Which properties of models go with a claim: what is planted is found, and what is not is found as rarely as said."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from headtypes.papers.ledger.models import FEWEST_FAMILIES, UNTRAINED
from headtypes.papers.ledger.properties import (
    MASKED,
    NEXT,
    NONE,
    PERMUTED,
    REPLACED,
    SEQUENCES,
    TASK,
    objective_of,
    properties_of,
    properties_table,
)
from headtypes.papers.quantities import FAILS, HOLDS, NO_VERDICT, OPEN


def made(verdicts: list[str], families: list[str] | None = None) -> pd.DataFrame:
    models = [f"m{number}" for number in range(len(verdicts))]
    return pd.DataFrame(
        {"paper": "p", "id": "c", "claim": "C.", "model": models, "family": families or models, "verdict": verdicts}
    )


def depths(number: int) -> pd.DataFrame:
    numbers = {"family": "f", "layers": np.arange(number) + 1, "same": 1, "objective": None}
    return pd.DataFrame(numbers, index=[f"m{it}" for it in range(number)])


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


def test_a_claim_that_is_true_after_one_objective_goes_with_it():
    """Of seven families, in one of which nothing says what the second model was trained for, and one more verdict."""
    objectives = ["masked words", "next token"] * 4
    models = depths(9).assign(layers=3, objective=[*objectives, None])
    verdicts = [HOLDS, FAILS] * 4 + [HOLDS]
    table = properties_table(made(verdicts), models, seed=1)
    found = table.set_index("property")["correlation"]
    assert found.to_dict() == pytest.approx({"objective: masked words": 1, "objective: next token": -1})
    assert table["families"].tolist() == [8, 8]
    # A family of which one model may have been trained for anything has no objective.
    families = [f"f{number}" for number in range(8)]
    table = properties_table(made(verdicts, [*families, "f7"]), models.assign(layers=range(9)), seed=1)
    assert table.set_index("property")["families"].to_dict() == {
        "layers": 8,
        "objective: masked words": 7,
        "objective: next token": 7,
    }


def record(*architectures: str, causal: bool = False, model_type: str = "bert") -> dict:
    named = {"model_type": model_type, "causal": causal, "architectures": list(architectures) or None}
    return {"parameters": 7, "layers": 2, "heads": 3, **named}


@pytest.mark.parametrize(
    ("found", "objective"),
    [
        (record("BertForMaskedLM"), MASKED),
        (record("BertForPreTraining"), MASKED),
        (record("ElectraForPreTraining", model_type="electra"), REPLACED),
        (record("ElectraForMaskedLM", model_type="electra"), MASKED),
        (record("MPNetForMaskedLM", model_type="mpnet"), PERMUTED),
        (record("LlamaForCausalLM", model_type="llama", causal=True), NEXT),
        (record("GPT2LMHeadModel", model_type="gpt2", causal=True), NEXT),
        (record("BertLMHeadModel", causal=True), NEXT),
        (record("Gemma3ForConditionalGeneration", model_type="gemma3", causal=True), NEXT),
        (record("T5ForConditionalGeneration", model_type="t5"), SEQUENCES),
        (record("BertForQuestionAnswering"), TASK),
        (record("LlamaForSequenceClassification", model_type="llama", causal=True), TASK),
        # What nothing says is not guessed: bodies, classes of several objectives, and none at all.
        (record("BertModel"), None),
        (record("LlamaModel", model_type="llama", causal=True), None),
        (record("XLMWithLMHeadModel", model_type="xlm"), None),
        (record("SplinterForPreTraining", model_type="splinter"), None),
        (record("BertForMaskedLM", "BertForQuestionAnswering"), None),
        (record(), None),
    ],
)
def test_the_objective_is_what_the_class_says(found, objective):
    assert objective_of(found) == objective


def test_properties_are_those_of_the_records():
    records = {
        "bert": record("BertForMaskedLM"),
        "llama": record("LlamaModel", causal=True),
        "random": record("BertModel"),
    }
    found = properties_of(records, {"bert": "b", "llama": "l", "random": UNTRAINED})
    assert found.loc["bert"].to_dict() == {
        "family": "b",
        "parameters": 7,
        "layers": 2,
        "heads": 6,
        "causal": 0,
        "objective": MASKED,
    }
    assert found["causal"].tolist() == [0, 1, 0]
    assert found["objective"].dropna().to_dict() == {"bert": MASKED, "random": NONE}
