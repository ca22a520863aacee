"""What the experiments take from the Hub, made here: files of its repositories, with random weights and demo data."""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import torch
from datasets import ClassLabel, Dataset, Features, Value
from transformers import BertConfig, BertForMaskedLM, BertForQuestionAnswering

from headtypes.data.kinds.question_answering import Question
from tests.support.demo import demo_rows
from tests.support.models import saved
from tests.support.places import ROOT
from tests.support.tiny import bert_tokenizer

COMMITS = {
    "datasets/rajpurkar/squad": "7b6d24c440a36b6815f21b70d25016731768db1f",
    "datasets/nyu-mll/glue": "bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c",
}
_GLUE = {
    # columns, labels, and the demo's task.
    "mrpc": (("sentence1", "sentence2"), ["not_equivalent", "equivalent"], "paraphrase"),
    "mnli": (("premise", "hypothesis"), ["entailment", "neutral", "contradiction"], "entailment"),
}
_MODELS = {
    "google-bert/bert-large-uncased-whole-word-masking": BertForMaskedLM,
    "google-bert/bert-large-uncased-whole-word-masking-finetuned-squad": BertForQuestionAnswering,
    "google-bert/bert-base-uncased": BertForMaskedLM,
}


_SIZES = {"train": 24, "dev": 12}


def write_stand_ins(folder: Path) -> Path:
    """Write all that `paper.yaml` and `clark.yaml` fetch by default."""
    squad = {split: demo_rows("question_answering", size, split) for split, size in _SIZES.items()}
    _write_squad(folder / "datasets/rajpurkar/squad", squad)
    _write_glue(folder / "datasets/nyu-mll/glue")
    texts = {text for questions in squad.values() for asked in questions for text in (asked.context, asked.question)}
    words = {word for text in texts for word in re.findall(r"[a-z]+", text.lower())}
    for number, (name, kind) in enumerate(_MODELS.items()):
        _write_model(folder / "models" / name, kind, sorted(words), seed=number)
    return folder


def _write_model(folder: Path, kind: type, words: list[str], seed: int) -> None:
    tokenizer = bert_tokenizer(words)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=24,
        max_position_embeddings=512,
        initializer_range=0.2,
    )
    saved(kind(config), tokenizer, folder)
    (folder / "README.md").write_text("---\nlicense: apache-2.0\n---\n\nRandom weights.\n")
    # Which the workflow must not fetch.
    for name in ("pytorch_model.bin", "tf_model.h5", "flax_model.msgpack"):
        (folder / name).write_bytes(b"not to be read")


def _write_squad(folder: Path, squad: Mapping[str, list[Question]]) -> None:
    tables = {}
    for split, part in (("train", "train"), ("validation", "dev")):
        rows = [
            {
                "id": each.id,
                "title": each.article,
                "context": each.context,
                "question": each.question,
                "answers": {"text": each.answers, "answer_start": each.answer_starts},
            }
            for each in squad[part]
        ]
        tables[split] = Dataset.from_list(rows)
    _write_repository(folder, {"plain_text": tables})


def _write_glue(folder: Path) -> None:
    configurations = {}
    for name, (columns, labels, task) in _GLUE.items():
        features = Features(
            {**dict.fromkeys(columns, Value("string")), "label": ClassLabel(names=labels), "idx": Value("int32")}
        )
        tables = {}
        for split, part in (("train", "train"), ("validation_matched" if name == "mnli" else "validation", "dev")):
            pairs = pd.read_csv(ROOT / f"demo/{task}_{part}.tsv", sep="\t", nrows=_SIZES[part])
            pairs.columns = ["idx", *columns, "label"]
            pairs["idx"] = pairs.index
            tables[split] = Dataset.from_pandas(pairs[list(features)], features=features)
        configurations[name] = tables
    _write_repository(folder, configurations)


def _write_repository(folder: Path, configurations: Mapping[str, Mapping[str, Dataset]]) -> None:
    lines = ["---", "configs:"]
    for configuration, tables in configurations.items():
        (folder / configuration).mkdir(parents=True)
        lines += [f"- config_name: {configuration}", "  data_files:"]
        for split, table in tables.items():
            table.to_parquet(folder / configuration / f"{split}-00000-of-00001.parquet")
            lines += [f"  - split: {split}", f"    path: {configuration}/{split}-*"]
    (folder / "README.md").write_text("\n".join([*lines, "---", "", "Of the demo.", ""]))
