"""Gradients by kind of token equal those of whole maps, each a variable of its own, in float64."""

import copy
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from headtypes.analyses.gradients.measure import (
    MaskedWords,
    NextToken,
    gradients_by_kind,
    measure_answer_gradients,
    measure_text_gradients,
)
from headtypes.analyses.gradients.results import Gradients, read_gradients
from headtypes.attention import hook
from headtypes.core.errors import InputError
from headtypes.core.files import derive_seed
from headtypes.core.table_files import write_csv
from headtypes.data.encoding import encode_samples, mask_words
from headtypes.data.kinds.question_answering import answer_positions, build_windows
from headtypes.data.tasks import Sample
from tests.support.models import in_float64, tiny_bert, tiny_language_model, tiny_roberta
from tests.support.records import PAIRS, classifier, pair_windows, question_of, recorded, types_in

# Two have the same length, one has no punctuation, and one is much longer than the others.
TEXTS = [
    Sample("a", "The old cat, the young dog. It sat by the river, and ran.", "A dog was in the house."),
    Sample("b", "the cat sat", "it ran"),
    Sample("c", "the dog, the cat.", "a house"),
    Sample("d", "the cat, the dog.", "a river"),
    Sample("e", "it was the cat. It sat by the river, under the old house.", "The young dog saw it, and ran. It was."),
]
KINDS = ("sep", "cls", "punctuation", "other", "all")
FAMILIES = ("bert", "roberta", "modernbert", "gpt2", "llama")
SETTINGS = {"task": "texts", "kind": "sentence_pair", "samples": 10, "seed": 3, "precision": "float32"}
# One of a sample at a time, one of several with padding, and one of all.
BATCHES = (1, 70, 4096)


def surfaces(tokenizer, ids: Sequence[int]) -> np.ndarray:
    """The kind of each token, by how it is written: [token] str."""
    cls, sep = tokenizer.cls_token or tokenizer.bos_token, tokenizer.sep_token or tokenizer.eos_token
    kinds = []
    for token in tokenizer.convert_ids_to_tokens([int(token_id) for token_id in ids]):
        plain = token.removeprefix("##").removeprefix("Ġ")
        kinds.append({cls: "cls", sep: "sep", ",": "punctuation", ".": "punctuation"}.get(plain, "other"))
    return np.array(kinds)


def dense_gradients(model, ids: Sequence[int], types: Sequence[int] | None, loss) -> np.ndarray:
    """|dLoss / dA| of one input without padding: [layer, head, query, key] float64.

    loss: from the output of the plain model to its loss on the input.
    """
    plain = in_float64(model).requires_grad_(True)
    plain.set_attn_implementation("eager")
    inputs = {"input_ids": torch.tensor([[int(token) for token in ids]])}
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    if types is not None:
        inputs["token_type_ids"] = torch.tensor([[int(type_) for type_ in types]])
    output = plain(**inputs, output_attentions=True)
    return torch.cat(torch.autograd.grad(loss(output), output.attentions)).abs().numpy()


def means_by_kind(gradients: np.ndarray, kinds: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """The mean over all rows and all keys of a kind, of one input: [layer, head, kind]; NaN where it has none.

    kinds: as of `surfaces`; counted: [token] bool, whether a token counts as one that is attended to.
    """
    means = np.full((*gradients.shape[:2], len(KINDS)), np.nan)
    for column, kind in enumerate(KINDS):
        keys = counted & ((kinds == kind) | (kind == "all"))
        if keys.any():
            means[..., column] = gradients[..., keys].mean((-2, -1))
    return means


def mean_where_there_are(means: Sequence[np.ndarray]) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.nansum(means, 0) / (~np.isnan(means)).sum(0)


def expected_of_texts(model, tokenizer) -> np.ndarray:
    encoded, means = encode_samples(TEXTS, tokenizer, "sentence_pair", 64), []
    for number, (text, ids) in enumerate(zip(TEXTS, encoded.input_ids, strict=True)):
        kinds, ids = surfaces(tokenizer, ids), np.array(ids)
        types = None if encoded.token_types is None else encoded.token_types[number]
        counted = np.ones(len(ids), bool)
        if tokenizer.mask_token is None:

            def loss(output, ids=ids):
                return cross_entropy(output.logits[0, :-1], torch.tensor(ids[1:]))
        else:
            vocabulary = np.array(sorted(tokenizer.get_vocab().values()))
            masked = mask_words(ids, kinds == "other", tokenizer.mask_token_id, vocabulary, derive_seed(3, text.id))
            counted[masked.indices], ids = False, masked.input_ids

            def loss(output, masked=masked):
                return cross_entropy(output.logits[0, masked.indices], torch.tensor(masked.targets))

        means.append(means_by_kind(dense_gradients(model, ids, types, loss), kinds, counted))
    return mean_where_there_are(means)


def assert_close(found: np.ndarray, expected: np.ndarray, tolerance: float = 1e-5) -> None:
    """Relative to the mean of the layer."""
    assert (np.isnan(found) == np.isnan(expected)).all()
    scale = expected[..., KINDS.index("all")].mean(1)[:, None, None]
    assert scale.min() > 0
    assert np.nanmax(np.abs(found - expected) / scale) < tolerance


def loss_of(tokenizer, texts=TEXTS, max_length: int = 64):
    encoded = encode_samples(texts, tokenizer, "sentence_pair", max_length)
    if tokenizer.mask_token is None:
        return NextToken(encoded)
    return MaskedWords(encoded, [text.id for text in texts], tokenizer, 3)


@pytest.mark.parametrize("batch_tokens", BATCHES)
@pytest.mark.parametrize("name", FAMILIES)
def test_gradients_of_a_language_model_are_those_of_whole_maps(name, batch_tokens, tmp_path):
    model, tokenizer = tiny_language_model(name)
    record = recorded(model, tokenizer, tmp_path)
    found = measure_text_gradients(TEXTS, record, batch_tokens=batch_tokens, **SETTINGS)
    assert found.loss == ("masked_words" if tokenizer.mask_token else "next_token")
    assert (found.samples, found.reason, found.warnings) == (5, None, [])
    expected = expected_of_texts(model, tokenizer)
    assert_close(found.values, expected)
    lacking = {"gpt2": ["sep", "cls"], "llama": ["sep"]}.get(name, [])
    assert [kind for kind, empty in zip(KINDS, np.isnan(expected).all((0, 1)), strict=True) if empty] == lacking


FURTHER = (
    *("mobilebert", "albert", "distilbert", "electra", "gemma3_text", "mistral", "mpnet", "bloom", "gemma2", "gpt_oss"),
)


@pytest.mark.parametrize("name", [*FAMILIES, *FURTHER])
def test_blocks_of_rows_add_up_to_the_whole_in_every_family(name, monkeypatch):
    """MobileBERT computes its logits in a way of its own, and ALBERT's layers share their weights."""
    monkeypatch.setattr(hook, "_BLOCK_PAIRS", 2**7)
    monkeypatch.setattr(hook, "LEAST_ROWS", 3)
    model, tokenizer = tiny_language_model(name, **({"num_hidden_layers": 4} if name in FAMILIES else {}))
    assert_close(gradients_by_kind(model, loss_of(tokenizer), 4096, "test"), expected_of_texts(model, tokenizer))


def means_of_window(model, tokenizer, windows, window, loss) -> np.ndarray:
    ids = windows.input_ids[windows.tokens(window)]
    gradients = dense_gradients(model, ids, types_in(windows, window), loss)
    return means_by_kind(gradients, surfaces(tokenizer, ids), np.full(len(ids), True))


@pytest.mark.parametrize("max_seq_length", [22, 40])
def test_gradients_of_answers_are_means_over_the_windows_of_a_question(max_seq_length, tmp_path):
    model, tokenizer = tiny_bert()
    river = "The old cat, the young dog. It sat by the river, and ran."
    house = "A dog was in the house. The dog saw the river, the cat. It ran."
    rows = [
        question_of("0", "who sat by the river?", river, ("cat",)),
        question_of("1", "where?", house, ("the house",)),
        question_of("2", "who ran under the old house, by it?", "It was the cat", ("It",)),
    ]
    windows = build_windows(rows, tokenizer, max_seq_length=max_seq_length, doc_stride=3, max_query_length=10)
    positions, of_question = answer_positions(rows, windows), {}
    for window in np.flatnonzero(positions[:, 0] >= 0):

        def loss(output, start=positions[window, 0], end=positions[window, 1]):
            logits = output.start_logits[0], output.end_logits[0]
            return -(logits[0].log_softmax(-1)[start] + logits[1].log_softmax(-1)[end]) / 2

        means = means_of_window(model, tokenizer, windows, window, loss)
        of_question.setdefault(windows.question[window], []).append(means)
    assert max(map(len, of_question.values())) > 1 or max_seq_length == 40
    expected = mean_where_there_are([mean_where_there_are(of_windows) for of_windows in of_question.values()])
    record = recorded(model, tokenizer, tmp_path)
    settings = {**SETTINGS, "kind": "question_answering"}
    found = measure_answer_gradients(rows, windows, record, batch_tokens=60, **settings)
    assert (found.loss, found.samples) == ("question_answering", 3)
    assert_close(found.values, expected)


@pytest.mark.parametrize("make", [tiny_bert, tiny_roberta])
def test_gradients_of_labels_are_those_of_whole_maps(make, tmp_path):
    model, tokenizer = classifier(make)
    windows, means = pair_windows(PAIRS, tokenizer, max_length=60), []
    for window, pair in enumerate(PAIRS):

        def loss(output, label=pair.label):
            return -output.logits[0].log_softmax(-1)[label]

        means.append(means_of_window(model, tokenizer, windows, window, loss))
    record, settings = recorded(model, tokenizer, tmp_path), {**SETTINGS, "kind": "sentence_pair"}
    found = measure_answer_gradients(PAIRS, windows, record, batch_tokens=512, **settings)
    assert_close(found.values, mean_where_there_are(means))
    few = measure_answer_gradients(PAIRS, windows, record, batch_tokens=512, **{**settings, "samples": 2})
    assert (found.samples, few.samples) == (4, 2)


@pytest.mark.parametrize("name", FAMILIES)
def test_no_map_is_kept_for_the_backward_pass(name):
    kept = {}
    for words in (40, 80):
        model, tokenizer = tiny_language_model(name, max_position_embeddings=130, num_hidden_layers=3)
        texts = [Sample(str(number), "the cat " * (words // 2), "it ran.") for number in range(2)]
        loss = loss_of(tokenizer, texts, 128)
        (length,) = set(map(len, loss.input_ids))
        # The shapes of what is kept, each piece of memory once: by place and bytes.
        numbers = {}

        def pack(tensor, numbers=numbers):
            memory = tensor.untyped_storage()
            numbers[memory.data_ptr(), memory.nbytes()] = tensor.shape
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            gradients_by_kind(model, loss, 4096, "test")
        maps = [shape for shape in numbers.values() if math.prod(shape) >= 3 * length**2 and shape[-1] == length]
        assert maps == []
        kept[length] = sum(nbytes for _, nbytes in numbers)
    (short, few), (long, many) = kept.items()
    assert many < 1.1 * few * long / short


class Stumbling(MaskedWords):
    """Does not fit into memory with more than one sample, once it has computed all gradients."""

    def losses(self, output, given):
        losses = super().losses(output, given)
        if len(losses) > 1:
            (losses.sum() * 7).backward()
            raise torch.OutOfMemoryError("planted")
        return losses


def test_a_batch_that_is_halved_counts_once():
    model, tokenizer = tiny_language_model("bert")
    encoded = encode_samples(TEXTS, tokenizer, "sentence_pair", 64)
    loss = Stumbling(encoded, [text.id for text in TEXTS], tokenizer, 3)
    assert_close(gradients_by_kind(model, loss, 4096, "test"), expected_of_texts(model, tokenizer))


class Faint(NextToken):
    def losses(self, output, given):
        return super().losses(output, given) / 2**14


def test_half_precision_does_not_lose_small_gradients():
    """The smallest positive number of float16 is 6e-8."""
    model, tokenizer = tiny_language_model("gpt2")
    loss = Faint(encode_samples(TEXTS, tokenizer, "sentence_pair", 64))
    found = gradients_by_kind(copy.deepcopy(model).half(), loss, 4096, "test")
    expected = gradients_by_kind(model, loss, 4096, "test")
    assert_close(found, expected, 0.02)
    assert np.nanmax(expected) < 1e-5


def test_a_gradient_that_is_not_finite_is_refused():
    model, tokenizer = tiny_language_model("bert")
    model.cls.predictions.transform.dense.weight.data[0, 0] = torch.nan
    with pytest.raises(InputError, match="test: the gradient of head 1-1 is not finite"):
        gradients_by_kind(model, loss_of(tokenizer), 512, "test")


def test_weights_without_a_head_give_no_values_and_say_why(tmp_path):
    model, tokenizer = tiny_bert()
    record = recorded(model, tokenizer, tmp_path / "answers")
    found = measure_text_gradients(TEXTS, record, batch_tokens=512, **SETTINGS)
    assert (found.values.shape, found.loss, found.samples) == ((3, 5, 5), None, 0)
    assert np.isnan(found.values).all()
    assert found.reason.startswith("has no head for masked words: its weights lack cls.predictions.bias")
    assert found.warnings == [f"nothing is measured: the model {found.reason}."]
    record = recorded(*tiny_language_model("bert"), tmp_path / "words")
    windows = pair_windows(PAIRS, tokenizer, max_length=60)
    found = measure_answer_gradients(PAIRS, windows, record, batch_tokens=512, **SETTINGS)
    assert found.reason.startswith("has no classification head: its weights lack bert.pooler.dense.bias")


def test_a_file_holds_what_was_measured(tmp_path):
    values = np.random.default_rng(0).random((2, 3, 5))
    values[..., 0] = np.nan
    nothing = Gradients(np.full((2, 3, 5), np.nan), None, 0, "has no head, or so; it says")
    for gradients in (Gradients(values, "next_token", 7), nothing):
        write_csv(tmp_path / "gradients.csv", gradients.table().sample(frac=1, random_state=0))
        found = read_gradients(tmp_path / "gradients.csv")
        np.testing.assert_allclose(found.values, gradients.values, rtol=1e-8)
        assert replace(found, values=None) == replace(gradients, values=None)
