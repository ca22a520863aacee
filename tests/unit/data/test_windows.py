import dataclasses
import json

import h5py
import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from headtypes.core.hdf5_files import write_arrays
from headtypes.data.kinds.question_answering import build_windows
from headtypes.data.windows import draw_part, read_windows, sentence_of, split_sentences
from tests.support.records import question_of, same_windows
from tests.support.tiny import bert_tokenizer, roberta_tokenizer, truncating_tokenizer

CONTEXT = (
    "Ada Lovelace lived in London. She met Mr. Babbage at a café in Zürich 😀 and wrote notes, "
    "long notes! Nobody read them for years.\n\nThen everybody did."
)
WORDS = ["ada", "Ada", "notes", "lived", "London", "london", "years", "wrote", "read", "the", "who", "Who"]
QUESTIONS = [
    question_of("q0", "Who wrote notes?", CONTEXT),
    question_of("q1", " Where did Ada of London, unread for years, live?  ", CONTEXT),
    question_of("q2", "Who?", " It was short."),
    question_of("é3", "Who read?", CONTEXT),
]
MAKERS = [bert_tokenizer, roberta_tokenizer, truncating_tokenizer]


def cut(windows, window):
    stretch = slice(*windows.offsets[window : window + 2])
    names = ("input_ids", "token_type_ids", "sentence", "char_start", "char_end")
    return {name: getattr(windows, name)[stretch] for name in names if getattr(windows, name) is not None}


def naive_windows(tokenizer, question, max_seq_length, doc_stride, max_query_length):
    """The sliding windows as run_squad makes them, on lists: ids, first context token, context tokens."""
    special = tokenizer("a", "b")
    ids = special["input_ids"]
    places = [number for number, kind in enumerate(special.sequence_ids(0)) if kind is not None]
    prefix, middle, suffix = ids[: places[0]], ids[places[0] + 1 : places[1]], ids[places[1] + 1 :]
    encode = {"add_special_tokens": False, "truncation": False, "padding": False}
    asking = tokenizer(question.question, **encode)["input_ids"][:max_query_length]
    tokens = tokenizer(question.context, **encode)["input_ids"]
    room = max_seq_length - len(prefix) - len(middle) - len(suffix) - len(asking)
    found, start = [], 0
    while start < len(tokens):
        length = min(len(tokens) - start, room)
        found.append((prefix + asking + middle + tokens[start : start + length] + suffix, start, length))
        if start + length == len(tokens):
            break
        start += min(length, doc_stride)
    return found


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(("window", "doc_stride", "max_query_length"), [(40, 7, 12), (22, 100, 8), (384, 128, 64)])
def test_windows_slide_as_in_run_squad(make, window, doc_stride, max_query_length):
    sizes = {"max_seq_length": window, "doc_stride": doc_stride, "max_query_length": max_query_length}
    windows = build_windows(QUESTIONS, make(WORDS), **sizes)
    naive = [
        (index, *one)
        for index, question in enumerate(QUESTIONS)
        for one in naive_windows(make(WORDS), question, **sizes)
    ]
    assert windows.question.tolist() == [index for index, *_ in naive]
    assert windows.question_ids == ["q0", "q1", "q2", "é3"]
    whole = build_windows(QUESTIONS, make(WORDS), max_seq_length=10_000)
    for number, (index, ids, start, length) in enumerate(naive):
        found, complete = cut(windows, number), cut(whole, index)
        assert found["input_ids"].tolist() == ids
        assert len(ids) <= window
        for name in ("sentence", "char_start", "char_end"):
            here = found[name][found["char_start"] >= 0]
            there = complete[name][complete["char_start"] >= 0]
            assert here.tolist() == there[start : start + length].tolist()
    if window < 384:
        assert len(windows) > len(QUESTIONS) + 3


@pytest.mark.parametrize("make", MAKERS)
def test_sentences_are_those_of_the_whole_context(make):
    windows = build_windows(QUESTIONS, make(WORDS), max_seq_length=30, doc_stride=5, max_query_length=10)
    for number in range(len(windows)):
        context = QUESTIONS[windows.question[number]].context
        found = cut(windows, number)
        for sentence, start in zip(found["sentence"], found["char_start"], strict=True):
            if start >= 0:
                begun = [begin for begin, _ in split_sentences(context) if begin <= start]
                assert sentence == len(begun)
    assert windows.sentence.max() == 4


def test_space_before_a_word_belongs_to_no_token():
    words = ["▁One", "▁here.", "▁Two", "▁there.", "▁Where?"]
    backend = Tokenizer(models.WordLevel({word: index for index, word in enumerate(["<unk>", *words])}, "<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    backend.post_processor = processors.TemplateProcessing(
        single="$A", pair="$A <unk> $B:1", special_tokens=[("<unk>", 0)]
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, unk_token="<unk>")
    text = "One here. Two there."
    windows = build_windows([question_of("q", "Where?", text)], tokenizer)
    found = cut(windows, 0)
    assert backend.encode(text).offsets[2] == (9, 13)
    cuts = [text[a:b] for a, b in zip(found["char_start"], found["char_end"], strict=True) if a >= 0]
    assert cuts == ["One", "here.", "Two", "there."]
    assert found["sentence"].tolist() == [0, -1, 1, 1, 2, 2]


def test_context_without_tokens_keeps_its_window():
    windows = build_windows([question_of("q", "Who?", "\n"), QUESTIONS[2]], bert_tokenizer())
    assert windows.question.tolist() == [0, 1]
    assert (cut(windows, 0)["sentence"] <= 0).all()


@pytest.mark.parametrize("make", MAKERS)
def test_windows_come_back_from_their_file(tmp_path, make):
    windows = build_windows(QUESTIONS, make(WORDS), max_seq_length=30, doc_stride=5, max_query_length=10)
    made = {"rule": "prepare_windows", "spec": {"max_seq_length": 30}, "sources": {"models/é": {}}}
    write_arrays(tmp_path / "w.h5", windows, made)
    again = read_windows(tmp_path / "w.h5")
    with h5py.File(tmp_path / "w.h5") as file:
        assert json.loads(file.attrs["provenance"]) == made
    same_windows(again, windows)
    write_arrays(tmp_path / "again.h5", windows, made)
    assert (tmp_path / "w.h5").read_bytes() == (tmp_path / "again.h5").read_bytes()


def many(count):
    return [dataclasses.replace(QUESTIONS[number % 4], id=f"q{number}") for number in range(count)]


@pytest.mark.parametrize(("questions", "number"), [(1, 1), (7, 7), (19, 19), ("all", 20), (20, 20), (21, 20)])
def test_a_part_is_drawn_in_order_with_its_own_windows(questions, number):
    rows, sizes = many(20), {"max_seq_length": 40, "doc_stride": 7, "max_query_length": 12}
    drawn, windows = draw_part(rows, build_windows(rows, bert_tokenizer(WORDS), **sizes), questions, seed=2)
    places = [rows.index(row) for row in drawn]
    assert len(set(places)) == number
    assert places == sorted(places)
    same_windows(windows, build_windows(drawn, bert_tokenizer(WORDS), **sizes))


@pytest.mark.parametrize(
    "sentences",
    [
        ["Café Müller is é. ", "It is 😀 good! ", "Dr. Smith went home.  ", "He saw it."],
        # White space between paragraphs is no sentence.
        ["One stands here.", "Two stands there."],
    ],
)
def test_offsets_count_characters_and_not_bytes(sentences):
    text = "".join(sentences) if sentences[0].endswith(" ") else "\n\n".join(sentences)
    assert [text[start:end] for start, end in split_sentences(text)] == sentences


@pytest.mark.parametrize("text", ["", " ", "\n\n"])
def test_text_without_sentences(text):
    boundaries = split_sentences(text)
    assert boundaries.shape == (0, 2)
    assert sentence_of(np.array([0]), boundaries).tolist() == [0]


@pytest.mark.parametrize("space", ["\u3000", "\u2029", "\u00a0", "\u2009"])
def test_wide_white_space_splits_like_a_space(space):
    text = "Mr. A\u3000. went home. Then he slept.".replace("\u3000", space)
    assert split_sentences(text).tolist() == split_sentences(text.replace(space, " ")).tolist()


def test_tokens_fall_into_the_sentence_in_which_they_start():
    boundaries = np.array([[2, 5], [5, 9], [12, 20]])
    offsets = np.arange(24)
    naive = [max([index for index, (start, _) in enumerate(boundaries) if start <= at], default=0) for at in offsets]
    found = sentence_of(offsets, boundaries)
    assert found.tolist() == naive
    assert found.dtype == np.int32
    # Between two sentences the preceding one, before the first the first, after the last the last.
    assert found[[10, 0, 23]].tolist() == [1, 0, 2]
