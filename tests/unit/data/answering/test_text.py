"""The loss of language models on texts: that of a plain Transformers loop, and of the dense computation if ablated."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from torch.nn.functional import cross_entropy

from headtypes.analyses.ablation.evaluation import evaluate_condition
from headtypes.analyses.ablation.head_outputs import measure_head_outputs
from headtypes.attention.operations import Reading
from headtypes.data import answering
from headtypes.data.encoding import encode_samples
from headtypes.data.kinds.registry import KINDS
from headtypes.data.kinds.text import Document, segments_of
from headtypes.data.tokens import separates_texts
from headtypes.models.model_config import language_head
from tests.support.dense import CHANGES, dense_output
from tests.support.models import FAMILIES, tiny_language_model
from tests.support.records import inputs_of, recorded, types_in, types_like

SETTINGS = {"kind": "text", "precision": "float32", "batch_tokens": 512}
DOCUMENTS = [
    Document("a", ("The cat sat. It ran.", "A dog saw it. It ran by the river, and sat.", "It was.", "The old house.")),
    Document("none", ("One paragraph alone.",)),
    Document("b", ("the old house by the river", "It sat under it. The cat ran.")),
    Document("c", ("It ran and ran. " * 6, "The dog sat by the old house under the river. " * 4)),
]
# Absolute positions, shared keys, local layers, segments; the last one predicts masked words.
MODELS = ["gpt2", "llama", "mistral", "gemma3_text", "bert"]


@pytest.fixture(scope="module", params=MODELS)
def made(request, tmp_path_factory):
    """A model, its tokenizer, its record and the windows of `DOCUMENTS`."""
    return prepared(request.param, tmp_path_factory.mktemp(request.param))


def prepared(name, folder, seed=5):
    model, tokenizer = tiny_language_model(name)
    record = recorded(model, tokenizer, folder)
    return model, tokenizer, record, windows_for(record, tokenizer, seed)


def windows_for(record, tokenizer, seed=5, documents=DOCUMENTS):
    return KINDS["text"].cut_windows(documents, tokenizer, record, max_seq_length=40, seed=seed)


def plain_losses(model, windows) -> pd.DataFrame:
    """Of each document, as a user would write it: one segment at a time, and Transformers' own loss."""
    causal = not type(model).__name__.endswith("ForMaskedLM")
    sums, counts = np.zeros(len(windows.question_ids)), np.zeros(len(windows.question_ids), int)
    for window, document in enumerate(windows.question):
        tokens = windows.tokens(window)
        inputs = inputs_of(windows, window)
        ids = inputs["input_ids"]
        wanted = windows.targets[tokens].astype(int)
        labels = ids if causal else torch.tensor(np.where(wanted < 0, -100, wanted)[None])
        number = ids.shape[1] - 1 if causal else (wanted >= 0).sum()
        with torch.inference_mode():
            sums[document] += model(**inputs, labels=labels).loss.item() * number
        counts[document] += number
    table = pd.DataFrame({"id": windows.question_ids, "loss": sums, "tokens": counts})
    return table[table["tokens"] > 0].reset_index(drop=True)


def evaluated(made, operations=(), head_outputs=None, documents=DOCUMENTS, **settings):
    *_, record, windows = made
    partition = types_like(record)
    arguments = {"condition": "c", "operations": dict(operations), **SETTINGS, **settings}
    answers, scores = evaluate_condition(documents, windows, partition, record, head_outputs, **arguments)
    assert answers == {}
    return scores


def test_losses_equal_a_plain_loop_padded_and_alone(made):
    model, _, _, windows = made
    expected = plain_losses(model, windows)
    assert expected["id"].tolist() == ["a", "b", "c"], "a document that gives no segment has no row"
    assert np.ptp(np.diff(windows.offsets)) > 5
    for batch_tokens in (512, 1):
        scores = evaluated(made, batch_tokens=batch_tokens)
        assert scores[["id", "tokens"]].equals(expected[["id", "tokens"]])
        assert (np.abs(scores["loss"] - expected["loss"]) / scores["tokens"]).max() < 1e-5
    metrics = KINDS["text"].mean_scores(scores)
    assert metrics["loss"] == pytest.approx(expected["loss"].sum() / expected["tokens"].sum(), abs=1e-5)
    assert metrics["perplexity"] == pytest.approx(np.exp(metrics["loss"]))
    assert (metrics["n_documents"], metrics["n_tokens"]) == (3, expected["tokens"].sum())


@pytest.mark.parametrize("name", FAMILIES)
def test_losses_equal_a_plain_loop_in_every_family(name, tmp_path):
    made = prepared(name, tmp_path)
    scores, expected = evaluated(made), plain_losses(made[0], made[3])
    np.testing.assert_allclose(scores["loss"], expected["loss"], atol=1e-5 * scores["tokens"].min())


def losses_of_operations(made, operations, reading=None, head_outputs=None):
    """The loss of each document by the dense computation in float64, heads under operations [layer, head]."""
    model, _, _, windows = made
    sums = np.zeros(len(DOCUMENTS))
    for window, document in enumerate(windows.question):
        tokens = windows.tokens(window)
        types = types_in(windows, window)
        read = windows.input_ids[tokens], types, operations, windows.sentence[tokens], reading or Reading()
        logits = dense_output(model, *read, head_outputs=head_outputs).logits[0]
        wanted = torch.tensor(windows.targets[tokens].astype(int))
        sums[document] += cross_entropy(logits, wanted, ignore_index=-1, reduction="sum").item()
    return sums[[0, 2, 3]]


@pytest.mark.parametrize("operation", CHANGES)
def test_every_operation_equals_the_dense_computation(made, operation):
    _, _, record, _ = made
    samples = [segment for document in DOCUMENTS for segment in segments_of(document)]
    measured = {"task": "t", "kind": "text", "precision": "float32", "batch_tokens": 512, "max_seq_length": 40}
    means = measure_head_outputs(samples, record, **measured)
    by_head = np.where(types_like(record).type_of == "dense", operation, "keep")
    scores = evaluated(made, {"dense": operation}, means)
    expected = losses_of_operations(made, by_head, head_outputs=means)
    assert (np.abs(scores["loss"] - expected) / scores["tokens"]).max() < 1e-5
    assert (np.abs(scores["loss"] - evaluated(made)["loss"]) / scores["tokens"]).max() > 1e-4


def test_a_window_is_the_sample_that_features_are_read_on(made):
    _, tokenizer, record, windows = made
    samples = [segment for document in DOCUMENTS for segment in segments_of(document)]
    encoded = encode_samples(samples, tokenizer, "text", record.max_length, 40)
    assert encoded.truncated.any()
    assert windows.question.tolist() == [0, 0, 2, 3]
    assert np.diff(windows.offsets).tolist() == encoded.lengths
    for window, ids in enumerate(encoded.input_ids):
        tokens = windows.tokens(window)
        hidden = windows.input_ids[tokens] != ids
        wanted = windows.targets[tokens]
        if language_head(record) == "causal_lm":
            assert not hidden.any()
            assert wanted.tolist() == [*ids[1:], -1]
        else:
            assert (wanted >= 0).sum() == max(1, round(0.15 * (encoded.kinds[window] == 0).sum()))
            assert not hidden[wanted < 0].any()
            assert (encoded.kinds[window][wanted >= 0] == 0).all()
            assert np.array(ids)[wanted >= 0].tolist() == wanted[wanted >= 0].tolist()


@pytest.mark.parametrize("name", ["bert", "roberta", "gpt2", "llama"])
def test_sentences_of_both_paragraphs_are_numbered_and_special_tokens_are_of_none(name, tmp_path):
    _, tokenizer, _, windows = prepared(name, tmp_path)
    tokens = windows.tokens(0)
    ids, sentence = windows.input_ids[tokens], windows.sentence[tokens]
    assert set(sentence[sentence >= 0]) == {0, 1, 2, 3}
    assert (np.diff(sentence[sentence >= 0]) >= 0).all()
    special = np.isin(ids, [it for it in tokenizer.all_special_ids if it != tokenizer.mask_token_id])
    assert special.any() == (name != "gpt2")
    assert (special == (sentence == -1)).all()
    if not separates_texts(tokenizer):
        texts = ["".join(tokenizer.convert_ids_to_tokens(ids[sentence == number])) for number in range(4)]
        assert [text.strip("ĠĊ").split("Ġ")[0] for text in texts] == ["The", "It", "A", "It"]


def test_the_words_that_are_hidden_depend_on_seed_and_segment_alone(tmp_path):
    _, tokenizer, record, windows = prepared("bert", tmp_path)
    again = windows_for(record, tokenizer)
    assert again.targets.tolist() == windows.targets.tolist()
    assert again.input_ids.tolist() == windows.input_ids.tolist()
    assert windows_for(record, tokenizer, seed=6).targets.tolist() != windows.targets.tolist()
    alone = windows_for(record, tokenizer, documents=DOCUMENTS[2:])
    assert alone.targets.tolist() == windows.targets[windows.offsets[2] :].tolist()
    renamed = [replace(document, id=f"{document.id}, again") for document in DOCUMENTS]
    assert windows_for(record, tokenizer, documents=renamed).targets.tolist() != windows.targets.tolist()


def test_no_more_logits_are_computed_than_there_is_room_for(made, monkeypatch):
    model, _, _, windows = made
    monkeypatch.setattr(answering, "_LOGITS", 8 * model.config.vocab_size)
    sizes, tokens = [], answering.PredictedTokens(windows).tokens
    plain = answering.PredictedTokens.loss_sums
    monkeypatch.setattr(
        answering.PredictedTokens,
        "loss_sums",
        lambda self, output: sizes.append(output.logits.shape[:-1]) or plain(self, output),
    )
    expected = evaluated(made, batch_tokens=4096)
    assert sum(number for (number,) in sizes) == tokens.sum(), "logits of the tokens to be predicted alone"
    assert len(sizes) > 1
    monkeypatch.undo()
    np.testing.assert_allclose(evaluated(made)["loss"], expected["loss"], rtol=1e-5)
