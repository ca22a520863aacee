"""Whatever is measured while a model runs, weights that are not finite give no result and a sentence names the head."""

import pytest
import torch

from headtypes.analyses.ablation.head_outputs import measure_head_outputs
from headtypes.analyses.coreference.measure import extract_antecedents
from headtypes.analyses.detectors.measure import measure_detectors
from headtypes.analyses.distances.measure import extract_features
from headtypes.analyses.divergence.measure import measure_divergence
from headtypes.analyses.maps.measure import map_attention, map_samples
from headtypes.analyses.relations.measure import extract_arcs
from headtypes.analyses.surface.measure import measure_surface
from headtypes.attention.run import ModelOnTask
from headtypes.core.errors import InputError
from headtypes.data.kinds.coreference.records import AnnotatedDocument, AnnotatedSentence, Mention
from tests.support.models import tiny_bert
from tests.support.records import SAMPLES, recorded
from tests.support.word_maps import sentence

SENTENCES = {"file": [sentence("the cat saw a dog", (2, 3, 0, 5, 3), "det nsubj root det obj")]}
NONE = ("",) * 4
WORDS, TAGS = ("the", "cat", "saw", "it"), ("DET", "NOUN", "VERB", "PRON")
SAID = AnnotatedSentence(WORDS, None, None, TAGS, NONE, NONE, None, NONE)
DOCUMENT = AnnotatedDocument("cats", (SAID,), (Mention(0, 1, "cat"), Mention(3, 3, "cat")), 0)
ENCODED = {"kind": "question_answering"}
PAIRS = ENCODED
READINGS = {
    "features": (extract_features, ENCODED, "does not sum to one"),
    "surface": (measure_surface, PAIRS, "is not finite"),
    "divergence": (measure_divergence, PAIRS, "is not finite"),
    "map": (map_attention, {**ENCODED, "tokens": 30}, "is not finite"),
    "maps": (map_samples, {**ENCODED, "tokens": 30}, "is not finite"),
}
CASES = {
    "head outputs": (measure_head_outputs, SAMPLES, ENCODED, "output of head 2-2 is not finite"),
    "arcs": (extract_arcs, SENTENCES, {}, "attention of head 2-2 is not finite"),
    "antecedents": (
        extract_antecedents, [DOCUMENT], {"extent": "first"}, "attention of head 2-2 is not finite"
    ),
}  # fmt: skip
HOW = {"precision": "float32", "batch_tokens": 20}
ADVICE = (
    "; the model's weights are damaged, or its numbers overflow in this precision: compute in float32, or use other "
    "weights."
)


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    model, tokenizer = tiny_bert()
    model.bert.encoder.layer[1].attention.self.key.weight.data[7:14] = torch.nan
    return recorded(model, tokenizer, tmp_path_factory.mktemp("broken"))


@pytest.mark.parametrize(("measure", "read", "settings", "fault"), CASES.values(), ids=CASES)
def test_weights_that_are_not_finite_are_named(measure, read, settings, fault, broken):
    with pytest.raises(InputError) as refused:
        measure(read, broken, task="squad", **settings, **HOW)
    assert str(refused.value) == f"tiny on squad: the {fault}{ADVICE}"


@pytest.mark.parametrize(("measure", "settings", "fault"), READINGS.values(), ids=READINGS)
def test_readings_name_them_too(measure, settings, fault, broken):
    with pytest.raises(InputError) as refused:
        measure(ModelOnTask(broken, task="squad", **HOW), SAMPLES, **settings)
    assert str(refused.value) == f"tiny on squad: the attention of head 2-2 {fault}{ADVICE}"


def test_detectors_refuse_them_too(broken):
    with pytest.raises(InputError, match="tiny on random tokens: the attention of head 2-2 is not finite"):
        measure_detectors(broken, sequences=2, length=8, seed=1, **HOW)


def test_samples_are_cut_to_what_model_and_task_take(tmp_path):
    record = recorded(*tiny_bert(), tmp_path)
    for most, longest in ((None, record.max_length), (30, 30), (10**6, record.max_length)):
        run = ModelOnTask(record, task="squad", precision="float32", max_seq_length=most)
        assert run.longest == longest
        assert max(run.encode(SAMPLES, "question_answering").lengths) <= longest
