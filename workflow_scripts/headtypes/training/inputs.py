"""What fine-tuning reads: encoded questions and sentence pairs, the order they come in, and batches of them."""

from collections.abc import Sequence

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from headtypes.tasks.spans import answer_positions
from headtypes.tasks.windows import build_windows

Features = dict[str, list[int] | int]

# Batches are made of samples of like length, drawn from stretches of this many batches.
_STRETCH = 50


def encode_questions(
    tokenizer: PreTrainedTokenizerBase,
    questions: Sequence[dict],
    max_seq_length: int,
    max_query_length: int,
    doc_stride: int,
) -> list[Features]:
    """Encode questions with their contexts as windows of at most `max_seq_length` tokens, for training.

    questions: question, context, answers and answer_starts each, as `squad.read_squad` returns them; the first
    answer is learned. The windows are those of `windows.build_windows`. start_positions and end_positions are the
    answer's first and last token, or the first token of the window (`[CLS]`) where the window does not hold the whole
    answer, as in run_squad.
    """
    windows = build_windows(
        questions, tokenizer, max_seq_length=max_seq_length, doc_stride=doc_stride, max_query_length=max_query_length
    )
    features: list[Features] = []
    for window, (start, end) in enumerate(answer_positions(questions, windows).clip(0).tolist()):
        tokens = windows.tokens(window)
        ids = windows.input_ids[tokens].tolist()
        feature: Features = {"input_ids": ids, "attention_mask": [1] * len(ids)}
        if windows.token_type_ids is not None:
            feature["token_type_ids"] = windows.token_type_ids[tokens].tolist()
        features.append({**feature, "start_positions": start, "end_positions": end})
    return features


def encode_pairs(tokenizer: PreTrainedTokenizerBase, pairs: Sequence[dict], max_seq_length: int) -> list[Features]:
    """Encode sentence pairs of first, second and label (int), cut to `max_seq_length` tokens from the longer one."""
    texts = [pair["first"] for pair in pairs], [pair["second"] for pair in pairs]
    encoded = tokenizer(*texts, padding=False, truncation="longest_first", max_length=max_seq_length)
    return [
        {**{name: column[row] for name, column in encoded.items()}, "labels": int(pair["label"])}
        for row, pair in enumerate(pairs)
    ]


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
