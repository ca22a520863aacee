"""What fine-tuning reads: encoded questions and sentence pairs, the order they come in, and batches of them."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from headtypes.errors import InputError
from headtypes.progress import progress

Features = dict[str, list[int] | int]

# Batches are made of samples of like length, drawn from stretches of this many batches.
_STRETCH = 50


def squad_questions(squad: dict) -> Iterator[dict]:
    """Yield the questions of data in SQuAD's format, each with its article's title and its context.

    squad: the parsed JSON. Each question has id, article, context, question and answers as in the file ([{"text",
    "answer_start"}, ...]).
    """
    for article in squad["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                yield {"article": article["title"], "context": paragraph["context"], **question}


def encode_questions(
    tokenizer: PreTrainedTokenizerBase,
    questions: Sequence[dict],
    max_length: int,
    max_question_length: int,
    advance: int,
) -> list[Features]:
    """Encode questions with their contexts as windows of at most `max_length` tokens, for training.

    questions: question, context and answers ([{"text", "answer_start"}, ...]) each; the first answer is
    learned. The question is cut to `max_question_length` tokens; windows of a long context start `advance`
    tokens apart (Devlin et al. 2019, run_squad). start_positions and end_positions are the answer's first and
    last token, or the first token of the window (`[CLS]`) where the window does not hold the whole answer.
    Raises InputError for a question without an answer, or one whose answer does not stand at its
    answer_start.
    """
    if not tokenizer.is_fast:
        raise InputError(
            "Fine-tuning for question answering needs a fast tokenizer, which tells where tokens stand in the text."
        )
    features: list[Features] = []
    with progress(len(questions), "Encoding", "question") as bar:
        for question in questions:
            features += _windows(tokenizer, question, max_length, max_question_length, advance)
            bar.update(1)
    _leave_plain(tokenizer)
    return features


def _windows(tokenizer, question: dict, max_length: int, max_question_length: int, advance: int) -> list[Features]:
    start, end = _answer_span(question)
    asked = tokenizer(
        question["question"],
        add_special_tokens=False,
        return_offsets_mapping=True,
        padding=False,
        truncation=False,
    )
    text = question["question"]
    if len(asked["input_ids"]) > max_question_length:
        text = text[: asked["offset_mapping"][max_question_length - 1][1]]
    room = max_length - min(len(asked["input_ids"]), max_question_length) - tokenizer.num_special_tokens_to_add(True)
    if room < 1:
        raise InputError(
            f"Windows of {max_length} tokens leave no room for a context behind a question of {max_question_length}: "
            "raise max_length or lower max_question_length."
        )
    encoded = tokenizer(
        text,
        question["context"],
        padding=False,
        truncation="only_second",
        max_length=max_length,
        stride=max(0, room - advance),
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    windows = []
    for number, offsets in enumerate(encoded["offset_mapping"]):
        window = {name: encoded[name][number] for name in tokenizer.model_input_names if name in encoded}
        inside = [i for i, sequence in enumerate(encoded.sequence_ids(number)) if sequence == 1]
        first = next((i for i in inside if offsets[i][0] <= start < offsets[i][1]), None)
        last = next((i for i in reversed(inside) if offsets[i][0] < end <= offsets[i][1]), None)
        if first is None or last is None:
            first = last = 0
        windows.append({**window, "start_positions": first, "end_positions": last})
    return windows


def _answer_span(question: dict) -> tuple[int, int]:
    """The characters [start, end) of the first answer."""
    if not question["answers"]:
        raise InputError(f"Question {question.get('id')} has no answer to learn from.")
    answer = question["answers"][0]
    start = answer["answer_start"]
    end = start + len(answer["text"])
    if question["context"][start:end] != answer["text"]:
        raise InputError(
            f"Question {question.get('id')}: its context does not read {answer['text']!r} at character {start}; "
            "correct its answer_start."
        )
    return start, end


def encode_pairs(tokenizer: PreTrainedTokenizerBase, pairs: Sequence[dict], max_length: int) -> list[Features]:
    """Encode sentence pairs of first, second and label (int), cut to `max_length` tokens from the longer one."""
    features: list[Features] = []
    with progress(len(pairs), "Encoding", "pair") as bar:
        for pair in pairs:
            encoded = tokenizer(
                pair["first"],
                pair["second"],
                padding=False,
                truncation="longest_first",
                max_length=max_length,
            )
            features.append({**encoded, "labels": int(pair["label"])})
            bar.update(1)
    _leave_plain(tokenizer)
    return features


def _leave_plain(tokenizer: PreTrainedTokenizerBase) -> None:
    """Take the truncation and padding of our calls off a fast tokenizer, which would be saved with it."""
    if tokenizer.is_fast:
        tokenizer.backend_tokenizer.no_truncation()
        tokenizer.backend_tokenizer.no_padding()


def plan_order(lengths: Sequence[int], batch_size: int, steps: int, rng: np.random.Generator) -> list[int]:
    """The samples in the order they are trained on, `batch_size` times `steps` of them, batch after batch.

    Every sample comes once before any comes again. Within a stretch of batches samples are put together by length, so
    that little is padded, and the batches come in random order. The whole run is planned beforehand so that a resumed
    one only has to skip what it has seen.
    """
    wanted = batch_size * steps
    passes = -(-wanted // len(lengths))
    order = np.concatenate([rng.permutation(len(lengths)) for _ in range(passes)])[:wanted]
    lengths = np.asarray(lengths)
    batches: list[np.ndarray] = []
    for start in range(0, wanted, batch_size * _STRETCH):
        stretch = order[start : start + batch_size * _STRETCH]
        stretch = stretch[np.argsort(lengths[stretch], kind="stable")].reshape(-1, batch_size)
        batches += [stretch[i] for i in rng.permutation(len(stretch))]
    return np.concatenate(batches).tolist()


class PlannedSamples(torch.utils.data.Dataset):
    """Samples in a planned order."""

    def __init__(self, features: list[Features], order: list[int]):
        """order: indices into `features`."""
        self._features, self._order = features, order

    def __len__(self) -> int:
        """The number of samples in the plan."""
        return len(self._order)

    def __getitem__(self, index: int) -> Features:
        """The sample that the plan has at `index`."""
        return self._features[self._order[index]]


def pad_batch(tokenizer: PreTrainedTokenizerBase, features: list[Features]) -> dict[str, torch.Tensor]:
    """Stack samples as tensors [batch, length], padded on the right to the longest; labels and positions [batch]."""
    longest = max(len(feature["input_ids"]) for feature in features)
    padding = {"input_ids": tokenizer.pad_token_id or 0, "token_type_ids": tokenizer.pad_token_type_id}
    batch = {}
    for name, value in features[0].items():
        if isinstance(value, int):
            batch[name] = torch.tensor([feature[name] for feature in features])
        else:
            fill = padding.get(name, 0)
            batch[name] = torch.tensor([f[name] + [fill] * (longest - len(f[name])) for f in features])
    return batch
