"""Text as a task: documents of paragraphs from every source, their segments, and what a model reads of them."""

import json
from pathlib import Path

import pytest
from datasets import Dataset

from headtypes.data import fetching
from headtypes.data.encoding import encode_samples
from headtypes.data.fetching import fetch_task
from headtypes.data.kinds.text import Document, segments_of
from headtypes.data.records import Sample
from headtypes.data.tokens import separates_texts
from tests.support.refusals import refusal
from tests.support.tiny import bert_tokenizer, gpt2_tokenizer, llama_tokenizer, truncating_tokenizer

WORDS = ["the", "a", "cat", "dog", "house", "river", "old", "young", "sat", "ran", "by", "in", "it"]


def written(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def documents(path: Path) -> list[Document]:
    return fetch_task("mine", "text", {"folder" if path.is_dir() else "file": str(path)}, None)[0]


def refused(path: Path) -> str:
    message = refusal(documents, path)
    assert str(path) in message
    return message


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
    monkeypatch.setattr(fetching, "read_data_set", lambda source, _: (Dataset.from_list(rows), source))
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
    assert fragment in refused(written(tmp_path / name, content))


def test_files_are_read_in_the_order_of_their_names(tmp_path):
    folder = tmp_path / "texts"
    written(folder / "b.txt", "Three.\n\nFour.")
    written(folder / "a.TXT", "One.\n\nTwo.")
    written(folder / ".hidden", "not read")
    (folder / "further").mkdir()
    rows, record = fetch_task("mine", "text", {"folder": str(folder)}, None)
    assert rows == [Document("a-0", ("One.", "Two.")), Document("b-0", ("Three.", "Four."))]
    assert record == {
        "task": "mine",
        "folder": str(folder),
        "sha256": record["sha256"],
        "revision": None,
        "rows": 2,
    }


def test_a_paragraph_that_is_left_over_makes_no_segment():
    assert segments_of(Document("x", ("a", "b", "c", "d", "e"))) == [
        Sample("x-0", "a", "b"),
        Sample("x-1", "c", "d"),
    ]
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
    encoded = encode_samples(SEGMENTS, tokenizer, "text", 512, 11)
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
    encoded = encode_samples(SEGMENTS, tokenizer, "text", 512, 128)
    for sample, ids in zip(SEGMENTS, encoded.input_ids, strict=True):
        assert ids == tokenizer(f"{sample.first}\n\n{sample.second}")["input_ids"]
    cut = encode_samples(SEGMENTS, tokenizer, "text", 512, 6)
    assert cut.input_ids == [ids[:6] for ids in encoded.input_ids]
