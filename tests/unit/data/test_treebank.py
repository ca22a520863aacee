"""CoNLL-U: what is well formed is read as another program reads it, and all else refused by file and line."""

import pytest
from udapi.core.document import Document

from headtypes.data.fetching import fetch_task
from headtypes.data.kinds.treebank import Sentence, read_sentences
from headtypes.data.tasks import read_rows, write_records
from tests.support.conllu import lines_of
from tests.support.demo import demo_file
from tests.support.places import SHARED_DATA
from tests.support.refusals import refusal, refused_by_line

EWT = SHARED_DATA / "ud_ewt"
# A range, an empty node, a word with a space in it, an underscore that is a word, a sentence of one word.
TEXT = "\n".join(
    [
        "# newdoc id = d",
        "# sent_id = first",
        *("# text = I don't 10 000 _", "1\tI\tI\tPRON\tPRP\tCase=Nom\t4\tnsubj\t4:nsubj\t_"),
        *(
            "2-3\tdon't" + "\t_" * 8,
            "2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\t_",
            "3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_",
        ),
        *("3.1\tlike" + "\t_" * 8, "4\t10 000\t_\tNUM\t_\t_\t0\troot\t_\t_", "5\t_\t_\tSYM\t_\t_\t4\tobl:npmod\t_\t_"),
        *("", "1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_"),
    ]
)
READ = [
    Sentence(
        "first",
        ("I", "do", "n't", "10 000", "_"),
        (4, 4, 4, 0, 4),
        ("nsubj", "aux", "advmod", "root", "obl:npmod"),
        ("PRON", "AUX", "PART", "NUM", "SYM"),
        ("PRP", "VBP", "RB", "", ""),
        ("I", "do", "not", "", ""),
    ),
    Sentence("2", ("Yes",), (0,), ("root",), ("INTJ",), ("UH",), ("yes",)),
]


@pytest.mark.parametrize("text", [TEXT, f"{TEXT}\n", f"{TEXT}\n\n", f"\ufeff{TEXT}", TEXT.replace("\n", "\r\n")])
def test_sentences_are_read_without_ranges_and_empty_nodes(tmp_path, text):
    (tmp_path / "a.conllu").write_bytes(text.encode())
    rows, record = fetch_task("bank", "treebank", {"file": str(tmp_path / "a.conllu")}, None)
    assert rows == READ
    assert record["rows"] == 2
    write_records(tmp_path / "rows.jsonl", rows)
    assert read_rows(tmp_path / "rows.jsonl", "treebank") == READ


A, B, C = lines_of("1 a NOUN NN 2 nsubj _", "2 b VERB VB 0 root _", "3 . PUNCT . 2 punct _")


def replaced(line: str, column: int, value: str) -> str:
    columns = line.split("\t")
    return "\t".join([*columns[:column], value, *columns[column + 1 :]])


MALFORMED = {
    "nine columns": ([A.rpartition("\t")[0], B], 1, "9 columns; CoNLL-U has 10"),
    "a head outside": ([replaced(A, 6, "3"), B], 1, "the head 3 is outside of the sentence of 2 words"),
    "a gap in the ids": ([A, replaced(B, 0, "3")], 2, "the id is 3 where 2 is expected"),
    "no root": (["# a comment", A, replaced(B, 6, "1")], 2, "no word of the sentence that begins here is the root"),
    "two roots": ([replaced(A, 6, "0"), B], 2, "a second root; the word on line 1"),
    "a cycle": ([A, B, replaced(C, 6, "4"), replaced(replaced(C, 0, "4"), 6, "3")], 3, "form a cycle"),
    "its own head": ([replaced(A, 6, "1"), B], 1, "form a cycle"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_file_is_refused_in_one_sentence_with_file_and_line(tmp_path, name):
    refused_by_line(read_sentences, tmp_path / "bank.conllu", *MALFORMED[name])


@pytest.mark.parametrize("kind", ["treebank", "coreference"])
@pytest.mark.parametrize("form", ["_", "___"])
def test_masked_words_are_refused(tmp_path, kind, form):
    path = tmp_path / "masked.conllu"
    path.write_text("\n".join(lines_of(f"1 {form} DET DT 2 det Entity=(1)", f"2 {form} NOUN NN 0 root Entity=(1)")))
    message = refusal(fetch_task, "bank", kind, {"file": str(path)}, None)
    assert message.startswith(f"{path}, line 1: all words of the sentence are '{form}': they are masked; restore them")


def of_udapi(path) -> list[Sentence]:
    read = []
    for tree in Document(str(path)).trees:
        nodes = tree.descendants
        given = [
            tuple("" if getattr(node, name) in ("_", None) else getattr(node, name) for node in nodes)
            for name in ("upos", "xpos", "lemma")
        ]
        forms, heads, relations = zip(*((node.form, node.parent.ord, node.deprel) for node in nodes), strict=True)
        read.append(Sentence(tree.sent_id, forms, heads, relations, *given))
    return read


REAL = [EWT / f"en_ewt-ud-{part}.conllu" for part in ("dev", "test")]
_needs_data = pytest.mark.skipif(not EWT.is_dir(), reason="no real data")


@pytest.mark.parametrize("path", [demo_file("treebank"), *(pytest.param(path, marks=_needs_data) for path in REAL)])
def test_a_treebank_is_read_as_another_program_reads_it(path):
    assert read_sentences(path) == of_udapi(path)
