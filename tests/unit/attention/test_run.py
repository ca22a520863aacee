"""Whatever is measured while a model runs, weights that are not finite give no result and a sentence names the head."""

import pytest
import torch

from headtypes.analyses.ablation.head_outputs import measure_head_outputs
from headtypes.analyses.distances.measure import extract_features
from headtypes.analyses.maps.measure import map_attention
from headtypes.analyses.surface.measure import measure_surface
from headtypes.attention.run import ModelOnTask
from tests.support.models import tiny_bert
from tests.support.records import SAMPLES, recorded
from tests.support.refusals import refusal

ENCODED = {"kind": "question_answering"}
HOW = {"precision": "float32", "batch_tokens": 20}
ADVICE = (
    "; the model's weights are damaged, or its numbers overflow in this precision: compute in float32, or use other "
    "weights."
)


READINGS = {
    "features": (extract_features, ENCODED, "does not sum to one"),
    "surface": (measure_surface, ENCODED, "is not finite"),
    "map": (map_attention, {**ENCODED, "tokens": 30}, "is not finite"),
}


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    model, tokenizer = tiny_bert()
    model.bert.encoder.layer[1].attention.self.key.weight.data[7:14] = torch.nan
    return recorded(model, tokenizer, tmp_path_factory.mktemp("broken"))


@pytest.mark.parametrize(("measure", "settings", "fault"), READINGS.values(), ids=READINGS)
def test_heads_whose_weights_are_not_finite_are_named(measure, settings, fault, broken):
    message = refusal(measure, ModelOnTask(broken, task="squad", **HOW), SAMPLES, **settings)
    assert message == f"tiny on squad: the attention of head 2-2 {fault}{ADVICE}"


def test_outputs_that_are_not_finite_are_named(broken):
    message = refusal(measure_head_outputs, SAMPLES, broken, task="squad", **ENCODED, **HOW)
    assert message == f"tiny on squad: the output of head 2-2 is not finite{ADVICE}"


def test_samples_are_cut_to_what_model_and_task_take(tmp_path):
    record = recorded(*tiny_bert(), tmp_path)
    for most, longest in ((None, record.max_length), (30, 30), (10**6, record.max_length)):
        run = ModelOnTask(record, task="squad", precision="float32", max_seq_length=most)
        assert run.longest == longest
        assert max(run.encode(SAMPLES, "question_answering").lengths) <= longest
