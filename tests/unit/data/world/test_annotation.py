"""The generated world as a treebank and as documents with mentions."""

import json

import pytest

from headtypes.analyses.coreference.descriptions import references
from headtypes.core.errors import InputError
from headtypes.data.kinds.coreference.kind import Coreference
from headtypes.data.kinds.treebank import Treebank, read_sentences
from headtypes.data.world.annotation import _columns, make_coreference, make_treebank
from headtypes.data.world.grammar import Phrase, sentence
from headtypes.data.world.passages import articles
from headtypes.data.world.tasks import make
from tests.support.conllu import conllu_text


@pytest.mark.parametrize("made", [make_treebank, make_coreference])
def test_equal_seeds_give_equal_data_and_a_larger_size_begins_with_the_smaller(made):
    assert json.dumps(made(3, "dev", 40)) == json.dumps(made(3, "dev", 60)[:40])
    assert json.dumps(made(3, "dev", 40)) != json.dumps(made(4, "dev", 40))
    assert len(made(0, "train", 7)) == 7
    with pytest.raises(InputError, match="train, dev"):
        made(0, "test", 1)


def test_the_treebank_has_well_formed_trees_with_tags_of_its_words(tmp_path):
    rows = Treebank().rows_of_world(make("treebank", 1, "train", 1500), "treebank", "train")
    (tmp_path / "world.conllu").write_text(conllu_text(rows), encoding="utf-8")
    assert read_sentences(str(tmp_path / "world.conllu")) == rows
    tags = {
        (word.lower(), upos): (xpos, lemma)
        for row in rows
        for word, upos, xpos, lemma in zip(row.words, row.upos, row.xpos, row.lemmas, strict=True)
        if upos in ("DET", "PRON", "AUX", "NOUN", "ADP", "SCONJ", "CCONJ", "PUNCT")
    }
    expected = {
        ("a", "DET"): ("DT", "a"),
        ("an", "DET"): ("DT", "a"),
        ("it", "PRON"): ("PRP", "it"),
        ("was", "AUX"): ("VBD", "be"),
        ("is", "AUX"): ("VBZ", "be"),
        ("glass", "NOUN"): ("NN", "glass"),
        ("mathematics", "NOUN"): ("NN", "mathematics"),
        ("visitors", "NOUN"): ("NNS", "visitor"),
        ("people", "NOUN"): ("NNS", "person"),
        ("in", "ADP"): ("IN", "in"),
        ("and", "CCONJ"): ("CC", "and"),
        (",", "PUNCT"): (",", ","),
    }
    assert {key: tags[key] for key in expected} == expected


def test_tags_of_verbs_follow_from_their_form_and_place():
    be, did = Phrase("was", "AUX", "aux:pass"), Phrase("did", "AUX", "aux")
    denial = Phrase("not", "PART", "advmod")
    poss = Phrase("his", "PRON", "nmod:poss")
    verbs = {
        ("VBN", "steal"): Phrase("stolen", "VERB", before=(be,)),
        ("VB", "cost"): Phrase("cost", "VERB", before=(did, denial)),
        ("VBD", "cost"): Phrase("cost", "VERB"),
        ("VBZ", "lie"): Phrase("lies", "VERB"),
        ("VBP", "say"): Phrase("say", "VERB"),
        ("VBD", "grow"): Phrase("grew", "VERB", after=(Phrase("up", "ADP", "compound:prt"),)),
        ("NN", "friend"): Phrase("friend", "NOUN", before=(poss,)),
    }
    for (tag, lemma), root in verbs.items():
        columns = _columns(sentence(root))
        place = columns["heads"].index(0)
        assert (columns["xpos"][place], columns["lemmas"][place]) == (tag, lemma)
    particle, possessive = (_columns(sentence(verbs[key])) for key in (("VBD", "grow"), ("NN", "friend")))
    assert particle["xpos"][1] == "RP"
    assert (possessive["xpos"][0], possessive["lemmas"][0]) == ("PRP$", "he")


def test_documents_have_the_mentions_that_the_world_knows():
    rows = Coreference().rows_of_world(make("coreference", 2, "dev", 30), "coreference", "dev")
    told = (article for article in articles(2, "dev") if article.passages)
    for row, article in zip(rows, told, strict=False):
        sentences = [one for passage in article.passages for one in passage.sentences]
        assert row.words == [word.form for one in sentences for word in one.words]
        kinds = {}
        before = 0
        for one in sentences:
            for mention in one.mentions:
                place = before + mention.start, before + mention.end - 1
                kinds[(*place, mention.entity)] = mention.kind, before + mention.head
            before += len(one.words)
        assert {(mention.start, mention.end, mention.entity) for mention in row.mentions} < kinds.keys()
        for mention in references(row, range(before)):
            kind, head = kinds[mention.start, mention.end, mention.entity]
            assert mention.head == head
            assert (kind == "pronoun") == (mention.type == "pronoun")
        often = [mention.entity for mention in row.mentions]
        assert all(often.count(entity) > 1 for entity in often)
