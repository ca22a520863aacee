"""Tiny models as the workflow finds them, saved in a folder with their record, and what they are evaluated on."""

import copy
from pathlib import Path

import numpy as np
import torch
from transformers import BertForSequenceClassification, RobertaForSequenceClassification

from headtypes.analyses.types.partitions import Partition
from headtypes.core.files import read_json
from headtypes.data.kinds.question_answering import Question, QuestionAnswering, build_windows
from headtypes.data.kinds.sentence_pair import Pair
from headtypes.data.tasks import KINDS, Sample
from headtypes.data.windows import Windows
from headtypes.models.fetching import fetch_model
from headtypes.models.records import ModelRecord
from tests.support.models import QUESTIONS, saved, tiny_bert, tiny_roberta
from tests.support.planted import typed

PAIRS = [
    Pair("p0", "The cat sat. It ran.", "A dog saw it. It ran by the river, and sat.", 1),
    Pair("p1", "the old house", "the river", 0),
    Pair("p2", "it sat under the old house by the river and ran and sat.", "It was", 1),
    Pair("p3", "it was", "the dog ran. The cat sat under the house. It was old.", 0),
]
# Lengths differ, so that batches are padded, further than local layers look.
SAMPLES = [Sample(str(number), question, context) for number, (question, context) in enumerate(QUESTIONS)]


def shortened_samples(turns: int) -> list[Sample]:
    """The samples, and after them the same with a part of the context alone: in turn n, its first nth."""
    return [
        Sample(f"{turn}-{number}", question, context[: len(context) // turn])
        for turn in range(1, turns + 1)
        for number, (question, context) in enumerate(QUESTIONS)
    ]


def recorded(model, tokenizer, folder: Path, **more) -> dict:
    return fetch_model("tiny", {"folder": str(saved(model, tokenizer, folder))}, **more)


def read_squad(path: Path) -> list[Question]:
    return QuestionAnswering().rows_of_file(read_json(path), str(path), "", None)


def same_windows(found: Windows, expected: Windows) -> None:
    for name, wanted in vars(expected).items():
        got = getattr(found, name)
        np.testing.assert_array_equal(got, wanted, name)
        assert (type(got), getattr(got, "dtype", None)) == (type(wanted), getattr(wanted, "dtype", None)), name


def types_in(windows: Windows, window: int) -> np.ndarray | None:
    return None if windows.token_type_ids is None else windows.token_type_ids[windows.tokens(window)]


def inputs_of(windows: Windows, window: int) -> dict[str, torch.Tensor]:
    arrays = {"input_ids": windows.input_ids[windows.tokens(window)], "token_type_ids": types_in(windows, window)}
    return {name: torch.tensor(array[None].astype(int)) for name, array in arrays.items() if array is not None}


def question_of(id_: str, question: str, context: str, answers=("the old house", "river"), article="a") -> Question:
    starts = tuple(max(context.find(answer), 0) for answer in answers)
    return Question(id_, article, question, context, tuple(answers), starts)


def questions() -> list[Question]:
    return [question_of(str(number), question, context) for number, (question, context) in enumerate(QUESTIONS)]


def windows_of(tokenizer) -> Windows:
    return build_windows(questions(), tokenizer, max_seq_length=64)


ANSWERING = {"kind": "question_answering", "precision": "float32", "batch_tokens": 256, "max_answer_length": 30}


def asked_of(model, tokenizer, folder: Path, **cut: int) -> tuple[list[Question], Windows, ModelRecord]:
    record = recorded(model, tokenizer, folder)
    return questions(), build_windows(questions(), tokenizer, **cut), record


def pair_windows(pairs: list[Pair], tokenizer, max_length: int) -> Windows:
    return KINDS["sentence_pair"].cut_windows(pairs, tokenizer, described("any"), max_seq_length=max_length)


def classifier(make, labels: int = 2):
    model, tokenizer = make()
    kind = {tiny_bert: BertForSequenceClassification, tiny_roberta: RobertaForSequenceClassification}[make]
    config = copy.deepcopy(model.config)
    config.num_labels = labels
    torch.manual_seed(3)
    return kind(config).eval(), tokenizer


def types_like(record) -> Partition:
    types = np.full((record.layers, record.heads), "dense", dtype=object)
    types[-1, ::2] = "diagonal"
    return typed(types)


def without_heads(model, heads: np.ndarray):
    """A copy in which the output projection hears nothing of some heads [layer, head] bool."""
    model = copy.deepcopy(model)
    for layer, gone in zip(model.base_model.encoder.layer, heads, strict=True):
        size = layer.attention.self.attention_head_size
        for head in np.flatnonzero(gone):
            layer.attention.output.dense.weight.data[:, head * size : (head + 1) * size] = 0
    return model


def described(name: str, max_length: int = 512, layers: int = 1, heads: int = 1) -> ModelRecord:
    shape = {"parameters": 1, "layers": layers, "heads": heads, "width": 16 * heads, "max_length": max_length}
    return ModelRecord(
        name=name, folder=".", weights={}, files={}, pickle=False, model_type="bert", architectures=None, **shape
    )
