"""What do sets of heads in random company cost beside a loop of plain forward passes over the same batches?

    python benchmarks/company.py
    python benchmarks/company.py --shape bert-base --sets 12 --threads 1

Runs from anywhere, without data or network, on a GPU where there is one: a random BERT that answers made-up questions.
Prints a Markdown table: sets a minute, and the time of a set in terms of a plain pass over the same batches, the median
over pairs of runs that alternate. A set's time has everything: heads put to zero, spans read, answers and losses
scored.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

os.environ |= {"HF_HUB_OFFLINE": "1"}
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import numpy as np
import pandas as pd
import torch
from transformers import BertConfig, BertForQuestionAnswering

from headtypes.analyses.ablation import evaluation
from headtypes.analyses.ablation.evaluation import Evaluator, Settings
from headtypes.analyses.company.sets import draw_sets
from headtypes.attention.hook import model_inputs, plan_batches
from headtypes.core.tables import markdown_table
from headtypes.data.kinds.question_answering import Question
from headtypes.data.windows import Windows

# Layers, hidden size and heads.
SHAPES = {"minilm": (6, 384, 12), "bert-base": (12, 768, 12)}
WINDOWS, TOKENS, BATCH, VOCABULARY = 32, 160, 4096, 1000
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def asked() -> tuple[list[Question], Windows]:
    """Made-up questions of one window each, whose answer is the word in the middle."""
    rng, size = np.random.default_rng(0), WINDOWS * TOKENS
    start = np.tile(2 * np.arange(TOKENS), WINDOWS)
    sentence = np.where(np.tile(np.arange(TOKENS), WINDOWS) < 12, 0, 1)
    context, middle = "a " * TOKENS, 2 * (TOKENS // 2)
    rows = [Question(str(number), "article", "question", context, ["a"], [middle]) for number in range(WINDOWS)]
    windows = Windows(
        input_ids=rng.integers(1, VOCABULARY, size).astype(np.int32),
        token_type_ids=sentence.astype(np.int8),
        sentence=sentence.astype(np.int32),
        char_start=np.where(sentence > 0, start, -1).astype(np.int32),
        char_end=np.where(sentence > 0, start + 1, -1).astype(np.int32),
        offsets=np.arange(0, size + 1, TOKENS, dtype=np.int64),
        question=np.arange(WINDOWS, dtype=np.int32),
        question_ids=[row.id for row in rows],
    )
    return rows, windows


def measured(shape: str, sets: int, pairs: int) -> list:
    """The row of a shape."""
    layers, width, heads = SHAPES[shape]
    sizes = {"hidden_size": width, "intermediate_size": 4 * width, "vocab_size": VOCABULARY}
    torch.manual_seed(0)
    config = BertConfig(num_hidden_layers=layers, num_attention_heads=heads, **sizes)
    model = BertForQuestionAnswering(config).eval().to(DEVICE)
    evaluation.load_for = lambda *_: model
    rows, windows = asked()
    record = SimpleNamespace(name=shape, layers=layers, heads=heads, max_length=512)
    settings = Settings(kind="question_answering", precision="float32", batch_tokens=BATCH, max_answer_length=30)
    evaluator = Evaluator(rows, windows, record, None, settings, gold=True)
    drawn = draw_sets(layers, heads, sets=max(sets, heads), per_layer=None, seed=0)[:sets]
    operations = [np.where(away, "zero", "keep").astype(object) for away in drawn]
    ids, types, _ = windows.texts
    batches = [
        model_inputs([ids[window] for window in some], [types[window] for window in some], 0, DEVICE)
        for some in plan_batches([TOKENS] * WINDOWS, BATCH)
    ]

    def plain() -> None:
        with torch.inference_mode():
            for _ in range(sets):
                for inputs in batches:
                    model(**inputs).start_logits.cpu()

    times = {"plain": [], "company": []}
    for pair in range(pairs + 1):
        for name, work in (("plain", plain), ("company", lambda: evaluator.evaluate(operations, shape))):
            began = time.process_time() if DEVICE.type == "cpu" else time.perf_counter()
            work()
            ended = time.process_time() if DEVICE.type == "cpu" else time.perf_counter()
            if pair:
                times[name].append(ended - began)
    ratio = np.median(np.divide(times["company"], times["plain"]))
    return [shape, round(60 * sets / np.median(times["company"])), ratio]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", choices=SHAPES, nargs="+", default=list(SHAPES))
    parser.add_argument("--sets", type=int, default=6)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    rows = [measured(shape, given.sets, given.pairs) for shape in given.shape]
    print(f"{WINDOWS} windows of {TOKENS} tokens, float32, {DEVICE.type}, {given.threads} thread(s)\n")
    columns = ["shape", "sets a minute", "time of a set, in plain passes"]
    print(markdown_table(pd.DataFrame(rows, columns=columns)))


if __name__ == "__main__":
    main()
