import numpy as np
import pytest

from headtypes.core.errors import InputError
from headtypes.data.kinds.question_answering import Spans, answer_questions, best_spans, build_windows
from headtypes.data.windows import Windows
from tests.support.records import question_of
from tests.support.tiny import bert_tokenizer, roberta_tokenizer


def naive_span(start_logits, end_logits, mask, max_answer_length):
    best = (-np.inf, -1, -1)
    for start in range(len(mask)):
        for end in range(start, len(mask)):
            if mask[start] and mask[end] and end - start < max_answer_length:
                score = float(start_logits[start]) + float(end_logits[end])
                if score > best[0]:
                    best = (score, start, end)
    return best


@pytest.mark.parametrize("max_answer_length", [1, 4, 30, 100])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("ties", [False, True])
def test_best_spans_equal_an_exhaustive_search(max_answer_length, dtype, ties):
    rng = np.random.default_rng(5)
    n_windows, n_tokens = 40, 37
    starts, ends = (rng.normal(size=(n_windows, n_tokens)) for _ in range(2))
    if ties:
        starts, ends = starts.round(), ends.round()
    starts, ends = starts.astype(dtype), ends.astype(dtype)
    mask = np.zeros((n_windows, n_tokens), bool)
    for window in range(n_windows):
        first = rng.integers(0, n_tokens)
        mask[window, first : first + rng.integers(0, n_tokens)] = True
    mask[7] = False
    # What stands outside of the context must not matter.
    starts[~mask], ends[~mask] = 1000, np.nan
    found = best_spans(starts, ends, mask, max_answer_length)
    naive = [naive_span(*arrays, max_answer_length) for arrays in zip(starts, ends, mask, strict=True)]
    assert list(zip(*(array.tolist() for array in found), strict=True)) == naive
    assert found.start[7] == found.end[7] == -1


def test_sums_in_double_precision_keep_apart_what_single_precision_makes_equal():
    starts = np.array([[2.0**24, 2.0**24]], np.float32)
    ends = np.array([[0.0, 1.0]], np.float32)
    assert np.float32(2.0**24) + np.float32(1) == np.float32(2.0**24)
    found = best_spans(starts, ends, np.ones((1, 2), bool), 1)
    assert (found.start[0], found.end[0]) == (1, 1)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", [0, 1])
def test_logits_that_are_not_finite_are_refused(value, which):
    logits = [np.zeros((2, 5), np.float32), np.zeros((2, 5), np.float32)]
    logits[which][1, 2] = value
    with pytest.raises(InputError, match="not finite"):
        best_spans(*logits, np.ones((2, 5), bool))


CONTEXT = "Ada met Bob at noon . Café Zoë 😀 shut then . Bob wrote the long notes at home ."
QUESTIONS = [question_of("q0", "Who met Bob ?", CONTEXT), question_of("q1", "What shut ?", CONTEXT)]
WORDS = sorted(set(CONTEXT.split()) | {"Who", "What", "?"})


@pytest.mark.parametrize("make", [bert_tokenizer, roberta_tokenizer])
def test_planted_answers_come_back(make):
    windows = build_windows(QUESTIONS, make(WORDS), max_seq_length=18, doc_stride=4)
    n_tokens = int(np.diff(windows.offsets).max())
    starts, ends, mask = np.zeros((len(windows), n_tokens)), np.zeros((len(windows), n_tokens)), None
    mask = np.zeros((len(windows), n_tokens), bool)
    wanted = {"q0": "Bob wrote", "q1": "Zoë 😀"}
    for window, (first, last) in enumerate(zip(windows.offsets[:-1], windows.offsets[1:], strict=True)):
        name = windows.question_ids[windows.question[window]]
        begin = CONTEXT.index(wanted[name])
        mask[window, : last - first] = windows.sentence[first:last] > 0
        starts[window, : last - first] = 5 * (windows.char_start[first:last] == begin)
        ends[window, : last - first] = 5 * (windows.char_end[first:last] == begin + len(wanted[name]))
    assert answer_questions(QUESTIONS, windows, best_spans(starts, ends, mask)) == wanted


def three_windows():
    """Windows 0 and 1 are of the first question, window 2 of the second; every token is one letter."""
    texts = ["abcdef", "uvwxyz"]
    questions = [question_of(f"q{i}", "?", text) for i, text in enumerate(texts)]
    at = np.array([-1, 0, 1, 2, -1, 3, 4, 5, -1, 0, 1, 2], np.int32)
    windows = Windows(
        input_ids=np.zeros(12, np.int32),
        token_type_ids=None,
        sentence=np.where(at < 0, -1, 1).astype(np.int32),
        char_start=at,
        char_end=np.where(at < 0, -1, at + 1).astype(np.int32),
        offsets=np.array([0, 4, 8, 12]),
        question=np.array([0, 0, 1], np.int32),
        question_ids=["q0", "q1"],
    )
    return questions, windows


@pytest.mark.parametrize(
    ("scores", "answer"), [((3.0, 1.0), "ab"), ((1.0, 3.0), "ef"), ((2.0, 2.0), "ab"), ((-9.0, -8.0), "ef")]
)
def test_best_window_wins_and_the_first_on_a_tie(scores, answer):
    questions, windows = three_windows()
    spans = Spans(np.array([*scores, 0.0]), np.array([1, 2, 3]), np.array([2, 3, 3]))
    assert answer_questions(questions, windows, spans) == {"q0": answer, "q1": "w"}


def test_question_without_context_tokens_has_an_empty_answer():
    questions, windows = three_windows()
    spans = Spans(np.array([1.0, 0.0, -np.inf]), np.array([1, 1, -1]), np.array([1, 1, -1]))
    assert answer_questions(questions, windows, spans)["q1"] == ""
