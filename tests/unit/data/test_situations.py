"""Data as people have them, from public reports: each is read as it is meant, or refused with what to do."""

import json
from pathlib import Path

import pytest

from headtypes.core.errors import InputError
from headtypes.data.fetching import fetch_task
from tests.support.conllu import lines_of

TREE = ["1 {0} DET DT 2 det {1}", "2 {0} NOUN NN 3 nsubj {2}", "3 {0} VERB VBD 0 root _"]


def fetched(kind: str, path: Path, columns: dict | None = None) -> tuple[list, dict]:
    place = "folder" if path.is_dir() else "file"
    return fetch_task("t", kind, {place: str(path)}, columns)


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def sentences(form: str, *marks: tuple[str, str]) -> str:
    of_each = (lines_of(*(line.format(form, *own) for line in TREE)) for own in marks)
    return "".join("\n".join(lines) + "\n\n" for lines in of_each)


@pytest.mark.parametrize("kind", ["treebank", "coreference"])
@pytest.mark.parametrize("form", ["_", "___"])
def test_masked_words_are_refused(tmp_path, kind, form):
    text = sentences(form, ("Entity=(1)", "Entity=(1)"))
    with pytest.raises(InputError, match=r"masked\.conllu, line \d+: all words .* are masked; restore them"):
        fetched(kind, written(tmp_path / "masked.conllu", text))


def conll2012(*parts: list[tuple[str, str]]) -> str:
    lines = []
    for number, words in enumerate(parts):
        lines.append(f"#begin document (nw/a); part {number:03}")
        lines += [f"nw/a 0 {at} {word} NN - - - - S * * {mark}" for at, (word, mark) in enumerate(words)]
        lines += ["", "#end document"]
    return "\n".join(lines) + "\n"


def test_entities_whose_id_cannot_be_told_from_further_fields_are_refused(tmp_path):
    """As in older GUM."""
    text = sentences("a", ("Entity=(person-1)", "Entity=(person-1)"))
    with pytest.raises(InputError, match=r"declare its fields: # global\.Entity"):
        fetched("coreference", written(tmp_path / "a.conllu", text))


def test_a_part_without_mentions_is_left_out_and_counted(tmp_path, capsys):
    text = conll2012([("a", "(0)"), ("b", "(0)")], [("c", "-"), ("d", "-")])
    documents, origin = fetched("coreference", written(tmp_path / "a.v4_gold_conll", text))
    assert [document.id for document in documents] == ["nw/a/0"]
    assert origin["left_out"] == {"documents without mentions": 1}
    assert "1 documents without mentions left out" in capsys.readouterr().out
    with pytest.raises(InputError, match="no document with a mention"):
        fetched("coreference", written(tmp_path / "b.v4_gold_conll", conll2012([("c", "-"), ("d", "-")])))


def test_files_in_folders_below_a_folder_are_read(tmp_path):
    for number, name in enumerate(("b", "a/deep", "a")):
        text = conll2012([("x", "(0)"), ("y", "(0)")]).replace("nw/a", f"nw/{number}")
        written(tmp_path / "docs" / name / "file.v4_gold_conll", text)
    documents, _ = fetched("coreference", tmp_path / "docs")
    assert [document.id for document in documents] == ["nw/1/0", "nw/2/0", "nw/0/0"]


QUESTION = {"id": 7, "question": "Who ran?", "answers": [{"text": "A cat", "answer_start": 0}]}
ROW = {"id": "q", "context": "A cat ran.", "question": "Who ran?", "answers": {"text": ["A cat"], "answer_start": [0]}}


def test_questions_with_whole_numbers_for_ids_and_articles_without_titles_are_read(tmp_path):
    data = {"data": [{"paragraphs": [{"context": "A cat ran.", "qas": [QUESTION]}]}]}
    (question,), _ = fetched("question_answering", written(tmp_path / "a.json", json.dumps(data)))
    assert (question.id, question.article) == ("7", "article 1")


def test_rows_of_squad_as_json_lines_are_read(tmp_path):
    rows = [ROW, {**ROW, "id": "r"}, {**ROW, "id": "s", "context": "A cat sat."}, {**ROW, "id": "t", "title": "Cats"}]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    questions, _ = fetched("question_answering", written(tmp_path / "a.jsonl", text))
    assert [question.article for question in questions] == ["context 1", "context 1", "context 2", "Cats"]


PAIRS = [("A cat sat.", "It sat.", label) for label in ("entailment", "-", "neutral", "-")]
PLAIN = {"first": "sentence1", "second": "sentence2"}
LABELLED = {**PLAIN, "label": "gold_label"}


def nli(path: Path) -> Path:
    rows = [{"sentence1": one, "sentence2": other, "gold_label": label} for one, other, label in PAIRS]
    return written(path, "".join(json.dumps(row) + "\n" for row in rows))


def test_pairs_that_nobody_could_decide_are_left_out_and_counted(tmp_path, capsys):
    """As in SNLI and MNLI, where annotators disagreed."""
    pairs, origin = fetched("sentence_pair", nli(tmp_path / "nli.jsonl"), {**LABELLED, "labels": {"-": None}})
    assert [(pair.id, pair.label) for pair in pairs] == [("0", "entailment"), ("2", "neutral")]
    assert origin["left_out"] == {"rows whose label is null in labels": 2}
    assert "2 rows whose label is null in labels left out, 2 rows read" in capsys.readouterr().out
    every = {"-": None, "entailment": None, "neutral": None}
    with pytest.raises(InputError, match=r"tasks\.t\.labels: every row of .*nli\.jsonl is left out; keep a label"):
        fetched("sentence_pair", nli(tmp_path / "nli.jsonl"), {**LABELLED, "labels": every})


@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_tables_of_a_spreadsheet_are_read_whatever_separates_their_columns(tmp_path, separator):
    text = f"\ufeffsentence1{separator}sentence2\r\nA cat, a dog{separator}It; sat.\r\n"
    if separator != "\t":
        text = text.replace("A cat, a dog", '"A cat, a dog"').replace("It; sat.", '"It; sat."')
    pairs, _ = fetched("sentence_pair", written(tmp_path / "a.csv", text), PLAIN)
    assert [(pair.first, pair.second) for pair in pairs] == [("A cat, a dog", "It; sat.")]
