"""Take from a few heads their attention to the same word in the other text, or to everything else.

    PYTHONPATH=workflow_scripts python cut_same_word.py NAME=FOLDER/MODEL/TASK HEAD HEAD ...

NAME: name of the run in `cut.csv`, whose rows are replaced. FOLDER: the working directory of a run with
`results/company/MODEL/TASK.h5`, whose questions are asked again. HEAD: layer and head from 1, as in 3-10.
Attention is cut after the softmax and rows are not renormalised, as in Guan et al.'s ablations.
"""

import json
import re
import sys
from itertools import accumulate
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from tokenizers import Tokenizer
from torch import Tensor

from headtypes.analyses.company.results import Company
from headtypes.analyses.same_word.measure import SameWord
from headtypes.attention.hook import Batch, Layer, run_batches
from headtypes.attention.operations import head_of
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.progress import progress
from headtypes.core.statistics import Evidence, Measured
from headtypes.data.answering import GOLD_LOSS, Answers, load_for
from headtypes.data.tasks import KINDS, read_rows
from headtypes.data.windows import draw_part, read_windows
from headtypes.models.records import read_model_record

HERE, KIND = Path(__file__).parent, KINDS["question_answering"]


def pairs_of(ids: np.ndarray, sentence: np.ndarray, vocabulary: list[str], frequent: set[str]) -> dict[str, np.ndarray]:
    """Return masks of a window's pairs of tokens, {name: [query, key] bool}.

    ids, sentence: [token] id, and sentence: 0 for the question, from 1 for the context, -1 for a special token.
    vocabulary: WordPiece tokens by id. frequent: words that do not count in "match", as punctuation does not.
    "match": the key is the same word as the query and stands in the other text. "of question": a match whose query
    stands in the question. "anywhere": the key is the same word, even a frequent one, in either text, but not the
    query's own occurrence. "random": for each query that has a match, one random other token of the other text.
    """
    pieces = [vocabulary[number] for number in ids]
    word_of = np.array(list(accumulate((not piece.startswith("##") for piece in pieces), initial=-1))[1:])
    words = pd.Series([piece.removeprefix("##") for piece in pieces]).groupby(word_of).sum()
    word, in_question, in_text = words.to_numpy()[word_of], sentence == 0, sentence >= 0
    is_word = in_text & np.array([re.fullmatch(r"\w+", text) is not None for text in word])
    same = (word[:, None] == word) & is_word[:, None] & is_word
    counts = ~np.isin(word, list(frequent))
    match = same & counts & (in_question[:, None] != in_question)
    others = in_text & (in_question[:, None] != in_question) & ~match & match.any(1, keepdims=True)
    order = np.where(others, np.random.default_rng(int(ids.sum())).random(match.shape), 2)
    random = others & (order == order.min(1, keepdims=True))
    anywhere = same & (word_of[:, None] != word_of)
    return {"match": match, "of question": match & in_question[:, None], "anywhere": anywhere, "random": random}


# What is left of attention, [window, head, query, key], by the masks of its windows.
CUTS = {
    "same word": lambda attention, of: attention * ~of["match"],
    "same word, by words of the question": lambda attention, of: attention * ~of["of question"],
    "same word, by words of the passage": lambda attention, of: attention * ~(of["match"] & ~of["of question"]),
    "same word, given to a random word": lambda attention, of: (
        attention * ~of["match"] + of["random"] * (attention * of["match"]).sum(-1, keepdim=True)
    ),
    "all else of these words": lambda attention, of: attention * (of["match"] | ~of["match"].any(-1, keepdim=True)),
    "all but same word": lambda attention, of: attention * of["match"],
    "all but same word, in either text, even if frequent": lambda attention, of: attention * of["anywhere"],
    "whole head": lambda attention, of: attention * 0,
}


def evaluate(windows, answers: Answers, model, cuts: dict[str, tuple], pairs: list[dict], what: str):
    """Return a table of answers for each condition, and the attention that words with a match lose, in percent.

    cuts: for each condition (entry of `CUTS`, heads cut, [layer, head] bool). pairs: as `pairs_of` returns them, by
        window.
    """
    ids, types, sentences = windows.texts
    tables, lost = {name: [] for name in cuts}, {name: [] for name in cuts}

    def run_batch(batch: Batch, forward) -> None:
        length = batch.inputs["input_ids"].shape[1]
        masks = {name: torch.zeros(len(batch.samples), 1, length, length, dtype=bool) for name in pairs[0]}
        for place, window in enumerate(batch.samples):
            for name, mask in pairs[window].items():
                masks[name][place, 0, : len(mask), : len(mask)] = torch.as_tensor(mask)
        rows = masks["match"].any(-1)
        of_batch = [sentences[window] for window in batch.samples]
        answers.start(batch.samples)
        for name, (cut, chosen) in cuts.items():

            def hook(number: int, layer: Layer, name: str = name, cut=cut, chosen: np.ndarray = chosen) -> Tensor:
                outputs = layer.head_outputs()
                for head in np.flatnonzero(chosen[number]):
                    of_head = layer.heads(slice(head, head + 1))
                    attention = of_head.attention(slice(0, length))
                    left = cut(attention, masks)
                    lost[name].append((attention - left).clamp_min(0).sum(-1)[rows].numpy())
                    outputs[:, head : head + 1] = left @ of_head.value
                return outputs

            values = answers.read(forward(hook), of_batch, batch.inputs)
            tables[name].append(pd.DataFrame({"window": batch.samples, **values}))

    with answers.attached(model), progress(len(cuts) * len(ids), what, "windows") as bar:
        run_batches(model, ids, types, run_batch, batch_tokens=4096, bar=bar)
    return (
        {name: pd.concat(found).set_index("window").sort_index() for name, found in tables.items()},
        {name: 100 * np.concatenate(found).mean() if found else 0.0 for name, found in lost.items()},
    )


name, _, where = sys.argv[1].partition("=")
heads = [head_of(text) for text in sys.argv[2:]]
results, model_name, task = Path(where).parents[1] / "results", Path(where).parent.name, Path(where).name
company = read_arrays(results / f"company/{model_name}/{task}.h5", Company)
rows, windows = (
    read_rows(results / f"questions/{task}.jsonl", KIND.name),
    read_windows(results / f"windows/{model_name}/{task}.h5"),
)
settings = json.loads(company.made)[0]
rows, windows = draw_part(rows, windows, settings["questions"], settings["seed"])
record = read_model_record(results / f"sources/models/{model_name}.json")
frequent = set(read_arrays(results / f"same_word/{model_name}/{task}.h5", SameWord).frequent)
tokenizer = Tokenizer.from_file(str(Path(record.folder) / "tokenizer.json"))
vocabulary = [tokenizer.id_to_token(number) for number in range(tokenizer.get_vocab_size())]
ids, _, sentences = windows.texts
pairs = [pairs_of(*window, vocabulary, frequent) for window in zip(ids, sentences, strict=True)]

chosen = np.zeros((record.layers, record.heads), bool)
for head in heads:
    chosen[head] = True
cuts = {"nothing": (None, chosen & False), **{name: (cut, chosen) for name, cut in CUTS.items()}}
cuts["same word, in all other heads"] = CUTS["same word"], ~chosen
answers = Answers(KIND.name, windows, KIND.answer_targets(rows, windows, record), max_answer_length=30)
tables, lost = evaluate(windows, answers, load_for(record, "float32", KIND.name), cuts, pairs, name)
whole, found = None, []
for condition, table in tables.items():
    _, scores = answers.scored(rows, windows, record, table)
    whole = scores if whole is None else whole
    row = {"run": name, "heads": ", ".join(sys.argv[2:]), "cut": condition, "questions": len(scores)}
    row["attention_cut"] = round(lost[condition], 4)
    for metric, sign in {"exact_match": 1, "f1": 1, GOLD_LOSS: -1}.items():
        drop = sign * (whole[metric] - scores[metric])
        units = drop.groupby(scores["article"])
        measured = Measured.by(Evidence(units.mean().to_numpy(), units.count().to_numpy()), over="articles")
        row |= {metric: scores[metric].mean(), f"{metric}_drop": measured.value}
        row |= {f"{metric}_low": measured.low, f"{metric}_high": measured.high}
    found.append(row)
path = HERE / "cut.csv"
earlier = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["run"])
table = pd.concat([earlier[earlier["run"] != name], pd.DataFrame(found).round(4)])
table.to_csv(path, index=False)
print(table.to_string())
