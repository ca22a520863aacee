"""Documents with mentions, in CoNLL-U and CoNLL-2012: read as another program reads them, or refused by line."""

from dataclasses import astuple

import pytest
from udapi.core.document import Document

from headtypes.core.errors import InputError
from headtypes.data.fetching import fetch_task
from headtypes.data.kinds.coreference import AnnotatedDocument, Coreference, Mention
from tests.support.conllu import lines_of
from tests.support.places import SHARED_DATA
from tests.support.refusals import refusal, refused_by_line

ONTOGUM = SHARED_DATA / "coref/ontogum"


def read(*files) -> list[AnnotatedDocument]:
    return Coreference().rows_of_file(list(map(str, files)), "there", "tasks.mine.columns", None)


CONLLU = "\n".join(
    [
        *("# newdoc id = one", "# global.Entity = GRP-etype", "# speaker = Ada"),
        *lines_of(
            "1 The DET DT 2 det Entity=(1-person(2",
            "2 king NOUN NN 3 nsubj SpaceAfter=No|Entity=2)",
            "3 saw VERB VBD 0 root _",
            "4 Ada PROPN NNP 3 obj Entity=(3)1)",
        ),
        "",
        *lines_of(
            "1 He PRON PRP 2 nsubj Entity=(1-person)",
            "2 saw VERB VBD 0 root Entity=(4[1/2]",
            "3 her PRON PRP 2 obj Entity=4[1/2])(3)",
            "4 . PUNCT . 2 punct Entity=(4[2/2])(5)",
        ),
        "",
        "# newdoc",
        # The pronoun that is left out has no word; the mention around it has one.
        *lines_of("1.1 _ PRON _ _ _ Entity=(a)(b", "1 Ran VERB VBD 0 root Entity=b)(a)", "2 home ADV RB 1 advmod (a)"),
        *("", *lines_of("1 B PROPN NNP _ _ Entity=(b)", "2 a X X _ _ Entity=(a)")),
    ]
)


def test_mentions_of_conllu(tmp_path):
    (tmp_path / "text.conllu").write_text(CONLLU.replace("1.1\t", "0.1\t"))
    first, second = read(tmp_path / "text.conllu")
    assert (first.id, second.id) == ("one", "text-2")
    assert first.words == ["The", "king", "saw", "Ada", "He", "saw", "her", "."]
    # 2 and 5 are mentioned once, and 4 is in two pieces.
    assert first.mentions == (Mention(0, 3, "1"), Mention(3, 3, "3"), Mention(4, 4, "1"), Mention(6, 6, "3"))
    assert (first.left_out, second.left_out) == (1, 1)
    sentence = first.sentences[1]
    assert (sentence.heads, sentence.relations) == ((2, 0, 2, 2), ("nsubj", "root", "obj", "punct"))
    assert (sentence.upos[0], sentence.xpos[0]) == ("PRON", "PRP")
    assert first.sentences[0].speakers == ("Ada",) * 4
    assert sentence.speakers == ("",) * 4
    assert second.sentences[1].heads is None
    assert second.mentions == (Mention(0, 0, "a"), Mention(0, 0, "b"), Mention(2, 2, "b"), Mention(3, 3, "a"))


CONLL = """\
#begin document (bc/cctv_0001); part 000
bc/cctv_0001   0   0   Ada      NNP  (TOP(S(NP*)   -   -   -   Bo   (PERSON)   (12)|(3
bc/cctv_0001   0   1   saw      VBD  (VP*   saw   01   1   Bo   *   -
bc/cctv_0001   0   2   her      PRP$ (NP*   -   -   -   Bo   *   (12)
bc/cctv_0001   0   3   father   NN   *)))))    -   -   -   -   *   (4)|3)

bc/cctv_0001   0   0   He       PRP  (TOP(NP*))   -   -   -   -   *   (4)
#end document
#begin document (bc/cctv_0001); part 001
bc/cctv_0001\t1\t0\tIt\t_\t_\t_\t_\t_\t_\t_\t_\t(0)
bc/cctv_0001\t1\t1\tis\t_\t_\t_\t_\t_\t_\t_\t_\t
bc/cctv_0001\t1\t2\tit\t_\t_\t_\t_\t_\t_\t_\t_\t(0)

#end document
"""


def test_the_whole_text_of_a_bracket_of_conll_2012_is_the_id_of_an_entity(tmp_path):
    ids = ["person-1", "person-2", "1-1", "1[1/2]"]
    (tmp_path / "a.conll").write_text("\n".join([BEGIN, *(word("a", marks=f"({id_})") for id_ in 2 * ids), END]))
    (document,) = read(tmp_path / "a.conll")
    assert [mention.entity for mention in document.mentions] == 2 * ids
    assert document.left_out == 0


@pytest.mark.parametrize("name", ["a.conll", "a.v4_gold_conll"])
def test_mentions_of_conll_2012(tmp_path, name):
    (tmp_path / name).write_text(CONLL.replace("*)))))", "*))))"))
    first, second = read(tmp_path / name)
    assert (first.id, second.id) == ("bc/cctv_0001/0", "bc/cctv_0001/1")
    assert first.mentions == (Mention(0, 0, "12"), Mention(2, 2, "12"), Mention(3, 3, "4"), Mention(4, 4, "4"))
    assert first.sentences[0].parse == ("(TOP(S(NP*)", "(VP*", "(NP*", "*))))")
    assert first.sentences[0].xpos == ("NNP", "VBD", "PRP$", "NN")
    assert first.sentences[0].speakers == ("Bo", "Bo", "Bo", "")
    assert first.sentences[0].heads is None
    assert second.words == ["It", "is", "it"]
    assert second.mentions == (Mention(0, 0, "0"), Mention(2, 2, "0"))
    assert (second.sentences[0].parse, second.sentences[0].xpos) == (None, ("", "", ""))


A, B = lines_of("1 a NOUN NN 2 nsubj Entity=(1)", "2 b VERB VB 0 root Entity=(1)")


def marked(line: str, marks: str) -> str:
    return line.replace("Entity=(1)", (marks and f"Entity={marks}") or "_")


MALFORMED_CONLLU = {
    "closed before it opens": ([marked(A, "1)"), B], 1, "a mention of the entity 1 is closed that is not open"),
    "never closed": ([A, marked(B, "(1")], 2, "the mention of the entity 1 that opens here is not closed"),
    "no bracket": ([marked(A, "1"), B], 1, "the brackets of '1' cannot be read"),
    # As in older GUM, declared or not: person would be one entity.
    "an id with a hyphen": ([marked(A, "(person-1)"), B], 1, "id of the entity 'person-1' cannot be told; write ids"),
    "an id with a hyphen of one field": (["# global.Entity = eid", marked(A, "(a-1)"), B], 2, "'a-1' cannot be told"),
    "an id with a hyphen that ends": (["# global.Entity = eid-etype", A, marked(B, "a-1)")], 3, "'a-1' cannot be told"),
    "more fields than declared": (["# global.Entity = eid-etype", A, marked(B, "(a-1-x)")], 3, "'a-1-x' cannot be"),
    "half a tree": ([A, B.replace("\t0\t", "\t_\t")], 2, "the head '_' is not a whole number"),
}
BEGIN, END = "#begin document (d); part 0", "#end document"


def word(form: str, parse: str = "-", marks: str = "(1)") -> str:
    return f"d 0 0 {form} NN {parse} - - - - * {marks}"


MALFORMED_CONLL = {
    "a word before the first document": ([word("a"), BEGIN, END], 1, "a document begins with '#begin document"),
    "no end": ([BEGIN, word("a"), word("b")], 3, "the document of line 1 has not ended"),
    "ten columns": ([BEGIN, "d 0 0 a NN - - - - -", END], 2, "10 columns; CoNLL-2012 has 11 or more"),
}


@pytest.mark.parametrize("name", [*MALFORMED_CONLLU, *MALFORMED_CONLL])
def test_a_malformed_file_is_refused_in_one_sentence_with_file_and_line(tmp_path, name):
    form = "conllu" if name in MALFORMED_CONLLU else "conll"
    refused_by_line(read, tmp_path / f"bank.{form}", *(MALFORMED_CONLLU | MALFORMED_CONLL)[name])


def test_a_part_without_mentions_is_left_out_and_counted(tmp_path, capsys):
    path, without = tmp_path / "a.v4_gold_conll", [BEGIN.replace("0", "1"), word("c", marks="-"), END]
    path.write_text("\n".join([BEGIN, word("a"), word("b"), END, *without]))
    documents, record = fetch_task("stories", "coreference", {"file": str(path)}, None)
    assert [document.id for document in documents] == ["d/0"]
    assert record["left_out"] == {"documents without mentions": 1}
    assert "1 documents without mentions left out" in capsys.readouterr().out
    path.write_text("\n".join(without))
    assert "there has no document with a mention" in refusal(read, path)


def test_files_of_another_format_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"notes\.txt: coreference is read from \.conllu .* found \.txt\.$"):
        read(tmp_path / "notes.txt")


def entities_of_udapi(path) -> dict[str, set[tuple[int, int]]]:
    document = Document(str(path))
    nodes = [node for tree in document.trees for node in tree.descendants]
    place = {node: number for number, node in enumerate(nodes)}
    found = {}
    for entity in document.coref_entities:
        spans = {(place[mention.words[0]], place[mention.words[-1]]) for mention in entity.mentions}
        if len(spans) > 1:
            # It puts the number of the document before an id.
            found[entity.eid.partition(".")[2] or entity.eid] = spans
    return found


@pytest.mark.skipif(not ONTOGUM.is_dir(), reason="no real data")
@pytest.mark.parametrize("name", ["GUM_academic_librarians", "GUM_conversation_grounded", "GUM_voyage_athens"])
def test_real_documents_are_read_as_another_program_reads_them(name):
    path = ONTOGUM / f"{name}.conllu"
    (document,) = read(path)
    expected = {(*span, entity) for entity, spans in entities_of_udapi(path).items() for span in spans}
    assert {astuple(mention) for mention in document.mentions} == expected
