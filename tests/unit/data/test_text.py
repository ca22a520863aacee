"""Text as a task: documents from every source, their segments, what a model reads of them, and its losses."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from datasets import Dataset
from torch.nn.functional import cross_entropy

from headtypes.analyses.ablation.evaluation import Asked, evaluate_condition, measure_head_outputs
from headtypes.attention.operations import Reading
from headtypes.data import answering, fetching
from headtypes.data.encoding import encode_samples, separates_texts
from headtypes.data.fetching import fetch_task
from headtypes.data.kinds.text import Document, segments_of
from headtypes.data.tasks import KINDS, Sample
from tests.support.dense import CHANGES, dense_output
from tests.support.models import FAMILIES, tiny_language_model
from tests.support.records import inputs_of, recorded, types_in, types_like
from tests.support.refusals import refusal
from tests.support.tiny import bert_tokenizer, gpt2_tokenizer, llama_tokenizer, truncating_tokenizer

WORDS = ["the", "a", "cat", "dog", "house", "river", "old", "young", "sat", "ran", "by", "in", "it"]


def written(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def documents(path: Path) -> list[Document]:
    return fetch_task("mine", "text", {"folder" if path.is_dir() else "file": str(path)}, None)[0]


def json_lines(*rows: dict) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def squad(*articles: tuple[str, list[str]]) -> str:
    return json.dumps(
        {"data": [{"title": title, "paragraphs": [{"context": text} for text in texts]} for title, texts in articles]}
    )


def test_plain_text_has_paragraphs_and_documents(tmp_path):
    text = "One line\nand another. \n\n  Two.\n \t \nThree.\n\fFour.\n\n\n\nFive.\n\f\n"
    assert documents(written(tmp_path / "book.txt", text)) == [
        Document("book-0", ("One line and another.", "Two.", "Three.")),
        Document("book-1", ("Four.", "Five.")),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_marks_of_editors_are_no_text(tmp_path, end):
    text = b"\xef\xbb\xbf" + f"Café one.{end}{end}Two.{end}".encode()
    assert documents(written(tmp_path / "book.txt", text)) == [Document("book-0", ("Café one.", "Two."))]


def test_documents_of_json_lines_are_as_they_stand(tmp_path):
    rows = [{"id": "a", "paragraphs": ["One.\nLine.", " ", "Two."]}, {"id": 7, "paragraphs": ["x", "y"], "more": 1}]
    path = written(tmp_path / "docs.JSONL", "\n" + json_lines(*rows))
    assert documents(path) == [Document("a", ("One.\nLine.", " ", "Two.")), Document("7", ("x", "y"))]


ARTICLES = (("Cats", ["One.", "Two.", "One.", "Three."]), ("Dogs", ["Four.", "Five."]), ("Cats", ["Two.", "Six."]))
EXPECTED = (Document("Cats", ("One.", "Two.", "Three.", "Six.")), Document("Dogs", ("Four.", "Five.")))


def test_a_file_and_a_data_set_of_the_hub_give_the_same_documents(tmp_path, monkeypatch):
    path = written(tmp_path / "dev.json", squad(*ARTICLES))
    assert tuple(documents(path)) == EXPECTED
    rows = [{"title": title, "context": text, "id": "q"} for title, texts in ARTICLES for text in texts]
    source = {"hub": "some/questions", "revision": "abc", "split": "validation"}
    monkeypatch.setattr(fetching, "_read_data_set", lambda source, _: (Dataset.from_list(rows), source))
    from_hub, record = fetch_task("mine", "text", source, None)
    assert tuple(from_hub) == EXPECTED
    assert (record["hub"], record["revision"], record["rows"]) == ("some/questions", "abc", 2)


TWO = {"id": "a", "paragraphs": ["x", "y"]}


@pytest.mark.parametrize(
    ("name", "content", "fragment"),
    [
        ("book.txt", "", "has no text"),
        ("book.txt", "One.\nTwo.\n", "gives no segment, which takes a document with two paragraphs"),
        ("docs.jsonl", json_lines(TWO) + '{"id": \n', "line 2 is not valid JSON"),
        ("docs.jsonl", '\n{"paragraphs": ["x", "y"]}\n', "line 2 is no document"),
        ("docs.jsonl", '{"id": "a", "paragraphs": ["x", 3]}\n', "line 1 is no document"),
        ("docs.jsonl", json_lines(TWO, TWO), "row 2 has the id 'a' of row 1; make the ids unique"),
        ("dev.json", '{"data": [{"title": "a"}]}', "is not in the layout of SQuAD v1.1 (KeyError: 'paragraphs')"),
        ("dev.json", squad(("a", ["x", 3])), "the context of paragraph 2 is not text, but 3"),
    ],
)
def test_what_cannot_be_used_is_refused_by_file_and_line(tmp_path, name, content, fragment):
    message = refusal(documents, written(tmp_path / name, content))
    assert fragment in message
    assert str(tmp_path / name) in message


def test_files_are_read_in_the_order_of_their_paths(tmp_path):
    folder = tmp_path / "texts"
    written(folder / "b.txt", "Three.\n\nFour.")
    written(folder / "a.TXT", "One.\n\nTwo.")
    written(folder / ".hidden", "not read")
    written(folder / "c/a1.txt", "Five.\n\nSix.")
    rows, record = fetch_task("mine", "text", {"folder": str(folder)}, None)
    read = [("a-0", "One.", "Two."), ("b-0", "Three.", "Four."), ("a1-0", "Five.", "Six.")]
    assert rows == [Document(name, tuple(paragraphs)) for name, *paragraphs in read]
    assert record.keys() == {"task", "folder", "sha256", "revision", "rows"}
    assert (record["folder"], record["revision"], record["rows"]) == (str(folder), None, 3)


def test_a_paragraph_that_is_left_over_makes_no_segment():
    assert segments_of(Document("x", (*"abcde",))) == [Sample("x-0", "a", "b"), Sample("x-1", "c", "d")]
    assert segments_of(Document("x", ("a",))) == []


@pytest.mark.parametrize("nothing", ["", " \n\t", "\u200b\u00ad", "\x00\x07", "\u3000", "\ue000", "\u0301", "\ufffd"])
def test_a_paragraph_without_a_token_makes_no_segment_and_moves_no_other(nothing):
    assert not bert_tokenizer(WORDS).tokenize(nothing)
    assert segments_of(Document("x", ("a", nothing, "c", "d"))) == [Sample("x-1", "c", "d")]
    assert segments_of(Document("x", (nothing, "b", "c", "d"))) == [Sample("x-1", "c", "d")]


SEGMENTS = [
    Sample("x-0", "the cat sat by the old river.", "a dog ran."),
    Sample("x-1", "it sat.", "it ran in the house."),
]


@pytest.mark.parametrize("make", [bert_tokenizer, truncating_tokenizer])
def test_a_segment_is_a_pair_and_the_longer_paragraph_is_cut_from_its_end(make):
    tokenizer = make(WORDS)
    encoded = encode_samples(SEGMENTS, tokenizer, "text", 11)
    assert [tokenizer.convert_ids_to_tokens(ids) for ids in encoded.input_ids] == [
        ["[CLS]", "the", "cat", "sat", "by", "[SEP]", "a", "dog", "ran", ".", "[SEP]"],
        ["[CLS]", "it", "sat", ".", "[SEP]", "it", "ran", "in", "the", "house", "[SEP]"],
    ]
    assert encoded.truncated.tolist() == [True, True]
    assert encoded.token_types == [[0] * 6 + [1] * 5, [0] * 5 + [1] * 6]


@pytest.mark.parametrize("make", [gpt2_tokenizer, llama_tokenizer])
def test_without_a_separator_a_segment_is_running_text(make):
    tokenizer = make(WORDS)
    assert not separates_texts(tokenizer)
    encoded = encode_samples(SEGMENTS, tokenizer, "text", 128)
    for sample, ids in zip(SEGMENTS, encoded.input_ids, strict=True):
        assert ids == tokenizer(f"{sample.first}\n\n{sample.second}")["input_ids"]
    cut = encode_samples(SEGMENTS, tokenizer, "text", 6)
    assert cut.input_ids == [ids[:6] for ids in encoded.input_ids]


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
    return prepared(request.param, tmp_path_factory.mktemp(request.param))


def prepared(name, folder):
    model, tokenizer = tiny_language_model(name)
    record = recorded(model, tokenizer, folder)
    return model, tokenizer, record, windows_for(record, tokenizer)


def windows_for(record, tokenizer, seed=5, documents=DOCUMENTS):
    return KINDS["text"].cut_windows(documents, tokenizer, record, max_seq_length=40, seed=seed)


def plain_losses(model, windows) -> pd.DataFrame:
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


def evaluated(made, operations=(), head_outputs=None, **settings):
    *_, record, windows = made
    partition = types_like(record)
    arguments = {"condition": "c", "operations": dict(operations), **SETTINGS, **settings}
    answers, scores = evaluate_condition(Asked(DOCUMENTS, windows, partition, record, head_outputs), **arguments)
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


def losses_of_operations(made, operations, head_outputs):
    model, _, _, windows = made
    sums = np.zeros(len(DOCUMENTS))
    for window, document in enumerate(windows.question):
        tokens = windows.tokens(window)
        types = types_in(windows, window)
        read = windows.input_ids[tokens], types, operations, windows.sentence[tokens], Reading()
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
    expected = losses_of_operations(made, by_head, means)
    assert (np.abs(scores["loss"] - expected) / scores["tokens"]).max() < 1e-5
    assert (np.abs(scores["loss"] - evaluated(made)["loss"]) / scores["tokens"]).max() > 1e-4


def test_a_window_is_the_sample_that_features_are_read_on(made):
    _, tokenizer, record, windows = made
    samples = [segment for document in DOCUMENTS for segment in segments_of(document)]
    encoded = encode_samples(samples, tokenizer, "text", 40)
    assert encoded.truncated.any()
    assert windows.question.tolist() == [0, 0, 2, 3]
    assert np.diff(windows.offsets).tolist() == encoded.lengths
    for window, ids in enumerate(encoded.input_ids):
        tokens = windows.tokens(window)
        hidden = windows.input_ids[tokens] != ids
        wanted = windows.targets[tokens]
        if record.language_head == "causal_lm":
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
    special = np.isin(ids, [token for token in tokenizer.all_special_ids if token != tokenizer.mask_token_id])
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
    sizes, tokens = [], windows.predicted_tokens
    plain = answering.Answers.token_loss_sums
    monkeypatch.setattr(
        answering.Answers,
        "token_loss_sums",
        lambda self, output: sizes.append(output.logits.shape[:-1]) or plain(self, output),
    )
    expected = evaluated(made, batch_tokens=4096)
    assert sum(number for (number,) in sizes) == tokens.sum(), "logits of the tokens to be predicted alone"
    assert len(sizes) > 1
    monkeypatch.undo()
    np.testing.assert_allclose(evaluated(made)["loss"], expected["loss"], rtol=1e-5)
