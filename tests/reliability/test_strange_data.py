"""Data that are well-formed and cannot be stored: each is reported in one sentence that names the file."""

import json
from pathlib import Path

import numpy as np
import pytest

from headtypes.analyses.types.clustering import import_partition
from headtypes.core.files import read_json, read_json_lines
from headtypes.data.fetching import fetch_task
from tests.support.refusals import refusal

HALF, DEEP, DIGITS = "a\ud800b", "[" * 100_000 + "]" * 100_000, "9" * 10_000
COLUMNS = {"first": "a", "second": "b", "label": "l", "id": "i"}
OF_CHOICES = {"question": "q", "choices": "c", "answer": "a", "id": "i"}
CHOICE = {"q": "who?", "c": ["cat", "dog"], "a": 0, "i": "1"}
PAIR = {"a": "one", "b": "two", "l": "x", "i": "1"}


def squad(**others) -> str:
    """Two questions of one article, in which the keys named have other values."""
    given = {"id": "q", "question": "who?", "text": "cat", "answer_start": 0, "context": "cat sat", "title": "t"}
    given |= others
    if "text" in others:
        given["context"] = given["text"]
    answer = {key: given[key] for key in ("text", "answer_start")}
    paragraph = {"context": given["context"], "qas": [{"id": given["id"], "question": given["question"]}]}
    paragraph["qas"][0]["answers"] = [answer]
    return json.dumps({"data": [{"title": given["title"], "paragraphs": [paragraph, {"context": "next", "qas": []}]}]})


def lines(row: dict) -> str:
    return json.dumps(row) + "\n"


def table(separator: str, **others: str) -> str:
    return f"{separator.join(PAIR)}\n{separator.join({**PAIR, **others}.values())}\n"


def tree(id_: str, head: str = "0") -> str:
    return f"# sent_id = {id_}\n1\ta\t_\t_\t_\t_\t{head}\troot\t_\t_\n\n"


def mentions(id_: str) -> str:
    words = ["1\ta\t_\t_\t_\t_\t0\troot\t_\tEntity=(1)", "2\tb\t_\t_\t_\t_\t1\tdep\t_\tEntity=(1)"]
    return "\n".join([f"# newdoc id = {id_}", *words, "", ""])


def conll(name: str, part: str) -> str:
    return f"#begin document ({name}); part {part}\na 0 0 the DT * - - - - (1)\n\n#end document\n"


# Kinds of tasks that read JSON, and names of files.
JSON = (
    ("question_answering", "x.json"),
    ("text", "x.json"),
    ("text", "x.jsonl"),
    ("sentence_pair", "x.jsonl"),
    ("multiple_choice", "x.jsonl"),
)
# Kind of task, name of the file, what is in it, and words of the sentence.
CASES = {
    **{
        f"half a character in the {key} of a question": ("question_answering", "x.json", squad(**{key: HALF}), words)
        for key, words in {
            "id": "the id of row 1",
            "question": "the question of row 1",
            "title": "the article of row 1",
            "text": "the context of row 1",
        }.items()
    },
    **{
        f"half a character in {key} of a pair": ("sentence_pair", "x.jsonl", lines({**PAIR, key: HALF}), words)
        for key, words in {"a": "the first of row 1", "b": "the second", "l": "the label", "i": "the id"}.items()
    },
    **{
        f"half a character in {key} of a question with choices": (
            "multiple_choice",
            "x.jsonl",
            lines({**CHOICE, key: value}),
            words,
        )
        for key, value, words in (
            ("q", HALF, "the question of row 1"),
            ("c", ["a", HALF], "choice"),
            ("i", HALF, "the id of row 1"),
        )
    },
    "half a character in an answer": (
        "multiple_choice",
        "x.jsonl",
        lines({**CHOICE, "a": HALF}),
        "row 1 has the answer 'a\\ud800b'; it must be one of 0, 1.",
    ),
    "digits in an answer": (
        "multiple_choice",
        "x.jsonl",
        lines({**CHOICE, "a": 10**4000}),
        "row 1 has the answer 1000",
    ),
    "NUL in the id of a question with choices": (
        "multiple_choice",
        "x.jsonl",
        lines({**CHOICE, "i": "a\0"}),
        "the id of row 1 holds a NUL",
    ),
    **{
        f"half a character in {suffix}": (
            "sentence_pair",
            f"x{suffix}",
            table(by, a=HALF),
            "can't decode byte",
        )
        for suffix, by in {".csv": ",", ".tsv": "\t"}.items()
    },
    "half a character in a title of a text": ("text", "x.json", squad(title=HALF), "the title of paragraph 1"),
    "half a character in a text": ("text", "x.json", squad(context=HALF), "the context of paragraph 1"),
    "half a character in a line": ("text", "x.jsonl", lines({"id": "1", "paragraphs": ["a", HALF]}), "paragraph 2"),
    "half a character in plain text": ("text", "x.txt", f"one\n\n{HALF}", "line 3 is not UTF-8 text"),
    "half a character in a tree": ("treebank", "x.conllu", tree(HALF), "line 1: this is not UTF-8 text"),
    "half a character in CoNLL-U": ("coreference", "x.conllu", mentions(HALF), "line 1: this is not UTF-8 text"),
    "half a character in CoNLL-2012": ("coreference", "x.conll", conll(HALF, "0"), "line 1: this is not UTF-8 text"),
    "NUL in the id of a question": ("question_answering", "x.json", squad(id="a\0"), "the id of row 1 holds a NUL"),
    "NUL in the id of a pair": ("sentence_pair", "x.tsv", table("\t", i="a\0"), "the id of row 1 holds a NUL"),
    "NUL in the id of a text": (
        "text",
        "x.jsonl",
        lines({"id": "a\0", "paragraphs": ["a", "b"]}),
        "the id of row 1 holds a NUL",
    ),
    "NUL in the id of a tree": ("treebank", "x.conllu", tree("a\0"), "the id of row 1 holds a NUL"),
    "NUL in the id of a document": ("coreference", "x.conllu", mentions("a\0"), "the id of row 1 holds a NUL"),
    **{f"depth in {kind} of {name}": (kind, name, f'{{"id": {DEEP}}}\n', "nested too deeply") for kind, name in JSON},
    **{
        f"digits in {kind} of {name}": (kind, name, f'{{"id": {DIGITS}, "paragraphs": []}}\n', "too many digits")
        for kind, name in JSON
    },
    **{
        f"a key twice in {kind} of {name}": (
            kind,
            name,
            '{"a": {"id": 1, "text": "x", "text": ""}}\n',
            "key 'text' more",
        )
        for kind, name in JSON
    },
    "digits in the head of a word": ("treebank", "x.conllu", tree("1", DIGITS), "line 2: the head '999"),
    "digits in the number of a part": ("coreference", "x.conll", conll("a", DIGITS), "line 1: a document begins with"),
    "digits in the start of an answer": (
        "question_answering",
        "x.json",
        squad(answer_start=10**4000),
        "is not in the context at answer_start 1000",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_data_that_cannot_be_kept_are_told_with_their_place(case, tmp_path: Path):
    kind, name, content, words = CASES[case]
    file = tmp_path / name
    file.write_bytes(content.encode(errors="surrogatepass"))
    columns = {"sentence_pair": COLUMNS, "multiple_choice": OF_CHOICES}.get(kind)
    message = refusal(fetch_task, "read", kind, {"file": str(file)}, columns)
    assert str(file) in message
    assert words in message


@pytest.mark.parametrize(("content", "words"), [(DEEP, "nested too deeply"), (DIGITS, "too many digits")])
def test_our_own_json_that_was_changed_so_is_told(content, words, tmp_path: Path):
    file = tmp_path / "x.json"
    file.write_text(content)
    for read in (read_json, read_json_lines):
        message = refusal(read, file)
        assert str(file) in message
        assert words in message


@pytest.mark.parametrize("digits", [DIGITS, DIGITS[:4000]])
def test_a_partition_with_a_number_of_many_digits_is_told_with_its_line(digits, tmp_path: Path):
    file = tmp_path / "mine.csv"
    file.write_text(f"layer,head,type\n{digits},0,near\n")
    message = refusal(import_partition, file, np.full((8, 21), 1 / 21), (2, 4))
    assert f"{file}, line 2" in message
