"""Whether a head is used: planted heads that find objects, which a model needs or not, are told apart."""

import numpy as np
import pandas as pd
import pytest

from headtypes.analyses.coreference.measure import extract_antecedents
from headtypes.analyses.outputs.measure import measure_outputs
from headtypes.analyses.outputs.results import COLUMNS
from headtypes.analyses.relations.measure import extract_arcs
from headtypes.analyses.use.antecedents import find_antecedents
from headtypes.analyses.use.found import PREVIOUS, SURFACE, find_heads
from headtypes.analyses.use.measure import measure_task_use, measure_use
from headtypes.analyses.use.results import use_table
from headtypes.attention.run import ModelOnTask
from headtypes.data.kinds.coreference.records import AnnotatedDocument, AnnotatedSentence, Mention
from headtypes.data.kinds.registry import KINDS
from headtypes.data.kinds.treebank import Sentence
from headtypes.data.records import Sample
from headtypes.models.fetching import load_tokenizer
from tests.support.objects import (
    FINDER,
    any_sentences,
    planted_decoder,
    planted_reader,
    questions_behind,
    sentences,
)
from tests.support.records import recorded

HOW = {"task": "trees", "precision": "float32", "batch_tokens": 512}
LISTED = {"least": 20, "offsets": 3}


def table_of(found, losses) -> pd.DataFrame:
    return use_table(found, losses, least=0.01, found_seed=1, seed=1)


def table_of_trees(record, parts) -> pd.DataFrame:
    found, texts = find_heads(parts, extract_arcs(parts, record, subwords="mean", **HOW), **LISTED)
    return table_of(found, measure_use(found, texts, record, words=100, seed=1, **HOW))


def document(sentence: Sentence) -> AnnotatedDocument:
    """The object refers to what its verb does; the subject and each adjective are mentions of something else."""
    words = sentence.words
    nouns, none = ("NOUN",) * len(words), ("",) * len(words)
    places = range(len(words) - 1)
    mentions = (Mention(at, at, "verb" if at in (1, places[-1]) else str(at)) for at in places)
    only = AnnotatedSentence(words, None, None, nouns, none, none, None, none)
    return AnnotatedDocument(sentence.id, (only,), tuple(mentions), 0)


def table_of_documents(record, texts) -> pd.DataFrame:
    documents = list(map(document, texts))
    guesses = extract_antecedents(documents, record, subwords="mean", extent="first", **HOW)
    found, texts = find_antecedents(documents, guesses, least=20)
    return table_of(found, measure_use(found, texts, record, words=100, seed=1, **HOW))


def written_by_finder(record) -> float:
    """What the head that finds objects writes, of the residual stream."""
    texts = [" ".join(("", *sentence.words)) for sentence in sentences(2)]
    outputs = measure_outputs(ModelOnTask(record, **HOW), [Sample("0", *texts)], kind="text", segment_ids="pair")
    return outputs.written[0, 0, FINDER, COLUMNS.index("written")]


VERDICTS = {"read": "found and used", "unread": "found and not used", "nothing": "found and not used"}


@pytest.mark.parametrize(("written", "verdict"), VERDICTS.items())
def test_a_head_that_finds_objects_and_is_used_is_told_from_one_that_is_not(tmp_path, written, verdict):
    record = recorded(*planted_decoder(written), tmp_path / "model")
    assert (written_by_finder(record) > 0) == (written != "nothing")
    table = table_of_trees(record, {"file": sentences(120)})
    objects = table[(table["relation"] == "obj") & (table["direction"] == "dependent_to_head")]
    assert objects["verdict"].tolist() == [verdict] * 2
    assert (objects[["layer", "head", "accuracy"]] == [0, FINDER, 100]).all(axis=None)
    assert (objects["above_low"] > 0).all()
    if written == "read":
        # Of four particles one cannot be told from the others, without the verb.
        assert (objects["rise_low"] > 1).all()
    else:
        np.testing.assert_allclose(objects[["rise", "above_arcs", "above_heads"]], 0, atol=1e-6)
    # In a decoder, subjects do not see their verbs, and verbs not their objects.
    assert set(zip(table["relation"], table["direction"], strict=True)) >= {("nsubj", "head_to_dependent")}
    assert not ((table["relation"] == "nsubj") & (table["direction"] == "dependent_to_head")).any()


@pytest.mark.parametrize(("written", "verdict"), VERDICTS.items())
def test_a_head_that_finds_antecedents_and_is_used_is_told_from_one_that_is_not(tmp_path, written, verdict):
    table = table_of_documents(recorded(*planted_decoder(written), tmp_path / "model"), sentences(120))
    assert table["relation"].tolist() == ["antecedent, all"] * 2 + ["antecedent, nominal"] * 2
    assert set(table["verdict"]) == {verdict}
    assert (table[["layer", "head", "accuracy"]] == [0, FINDER, 100]).all(axis=None)
    # The nearest mention is the verb where there is no adjective.
    assert table["baseline"].between(20, 50).all()
    if written == "read":
        assert (table["rise_low"] > 1).all()
    else:
        np.testing.assert_allclose(table[["rise", "above_arcs", "above_heads"]], 0, atol=1e-6)


@pytest.mark.parametrize(("is_read", "verdict"), [(True, "found and used"), (False, "found and not used")])
def test_a_head_of_a_fine_tuned_model_is_used_if_its_task_needs_what_it_finds(tmp_path, is_read, verdict):
    record = recorded(*planted_reader(is_read), tmp_path / "model")
    rows, trees = questions_behind(60), {"file": any_sentences(120)}
    shape = {"max_length": record.max_length, "max_seq_length": 32, "doc_stride": 8, "max_query_length": 4}
    windows = KINDS["question_answering"].cut_windows(rows, load_tokenizer(record), **shape)
    found, _ = find_heads(trees, extract_arcs(trees, record, subwords="mean", **HOW), **LISTED, surface=True)
    how = {**HOW, "kind": "question_answering", "words": 50, "seed": 1}
    table = table_of(found, measure_task_use(found, rows, windows, record, **how))
    previous = table[table["relation"] == PREVIOUS]
    assert set(table["relation"]) <= set(SURFACE)
    assert previous["verdict"].tolist() == [verdict] * 2
    assert (previous[["layer", "head", "accuracy", "tokens"]] == [0, FINDER, 100, 50]).all(axis=None)
    if is_read:
        assert (previous["rise_low"] > 1).all()
    else:
        np.testing.assert_allclose(previous[["rise", "above_heads"]], 0, atol=1e-6)
