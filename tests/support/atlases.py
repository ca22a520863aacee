"""The results of a made-up model of any size, from which an atlas can be made, and its page in a browser."""

import base64
import gzip
from pathlib import Path
from urllib.parse import unquote_plus

import numpy as np
import pandas as pd
from playwright.sync_api import expect

from headtypes.analyses.distances.features import Features
from headtypes.analyses.divergence.results import Divergence
from headtypes.analyses.maps import AttentionMaps
from headtypes.analyses.surface.measure import COLUMNS, Surface
from headtypes.analyses.types.partitions import build_partition
from headtypes.core.files import write_json
from headtypes.core.hdf5_files import write_arrays
from headtypes.core.table_files import write_csv
from headtypes.pages.atlas.page import about_model, gather, page_of
from tests.support.records import described

WORDS = ["[CLS]", "the", "old", "house", "by", "##side", ".", "[SEP]"]
MARKUP = [
    "<script>document.title='run'</script>",
    "</script><b>bold</b>",
    "<!-- <script>",
    "<img src=x onerror=alert(1)>",
    "\u2028",
    "&amp;",
]
TYPES = ("dense", "diagonal", "dense_vertical", "vertical")


def made_up(layers: int, heads: int) -> dict:
    return about_model(described("made-up", 512, layers, heads))


def maps_of(layers: int, heads: int, tokens: list[str], seed: int) -> AttentionMaps:
    """Attention that no compression makes small."""
    rng = np.random.default_rng(seed)
    attention = rng.dirichlet(np.full(len(tokens), 0.3), (layers, heads, len(tokens))).astype(np.float32)
    return AttentionMaps(attention, tokens, f"sample {seed}", False)


def write_types(path: Path, layers: int, heads: int, first: int = 0) -> None:
    types = np.array([TYPES[(first + index) % 4] for index in range(layers * heads)], dtype=object)
    shares = np.random.default_rng(0).dirichlet(np.ones(21), len(types))
    columns = {"cluster": np.arange(len(types)) % 4, "type": types, "silhouette": np.zeros(len(types))}
    write_csv(path, build_partition(shares, (layers, heads), doubtful=types == "vertical", **columns).table)


def results(folder: Path, layers: int, heads: int) -> dict[str, list[tuple[str, Path]]]:
    """Results of every kind that an atlas shows, but those of language."""
    folder.mkdir(parents=True, exist_ok=True)
    count, rng = layers * heads, np.random.default_rng(0)
    layer, head = np.indices((layers, heads)).reshape(2, -1)
    table = pd.DataFrame({"layer": layer, "head": head})
    features = rng.dirichlet(np.ones(69), (3, layers, heads)).astype(np.float32)
    ids, length = ["a", "b", "c"], np.array([9, 40, 40], np.int32)
    write_arrays(folder / "features.h5", Features(features, length, np.zeros(3, bool), ids), {})
    write_types(folder / "types.csv", layers, heads)
    write_types(folder / "parent.csv", layers, heads, first=1)
    by_head = (np.arange(count) % 101).tolist()
    write_json(folder / "stability.json", {half: {"by_head": by_head} for half in ("heads", "samples")})
    index = np.arange(count)
    gradients = {"sep": 1e-5, "cls": index / 1000, "punctuation": np.nan, "other": index / count, "all": 0.1}
    write_csv(folder / "gradients.csv", table.assign(**gradients, loss="masked_words", samples=3, reason=None))
    patterns = rng.random((3, layers, heads, len(COLUMNS))).astype(np.float32)
    write_arrays(folder / "surface.h5", Surface(patterns, np.ones((3, layers), np.float32), length, ids), {})
    total = np.abs(np.subtract.outer(index, index)).astype(float)
    write_arrays(folder / "divergence.h5", Divergence(total, 2 * count, layers, ids), {})
    rows = [("baseline", 0, 0, 0), ("zero-dense", 7.25, 5, 9.5), ("one-head", 0.5, -1, 2)]
    write_csv(
        folder / "intervals.csv",
        pd.DataFrame(rows, columns=["condition", "drop_f1", "drop_f1_low", "drop_f1_high"]).assign(f1=90),
    )
    kinds = dict.fromkeys(("null", "difference", "low", "high", "above", "sequences", "p", "corrected_p"), 0)
    found = [
        table.assign(detector=name, score=index / 100, detected=index % 4 >= least, **kinds)
        for name, least in (("first", 2), ("induction", 3))
    ]
    write_csv(folder / "detectors.csv", pd.concat(found))
    return {
        "features": [("qa", folder / "features.h5")],
        "partitions": [("qa-kmeans-k4", folder / "types.csv")],
        "parents": [("qa-kmeans-k4 of base", folder / "parent.csv")],
        "stability": [("qa-kmeans-k4", folder / "stability.json")],
        "surface": [("text", folder / "surface.h5")],
        "gradients": [("text", folder / "gradients.csv")],
        "divergence": [("text", folder / "divergence.h5")],
        "intervals": [("qa-kmeans-k4", folder / "intervals.csv")],
        "detectors": [("random tokens", folder / "detectors.csv")],
    }


def write_relations(folder: Path, rows: list[tuple], best: list[tuple]) -> dict[str, list[tuple[str, Path]]]:
    """Write accuracies of heads and the best heads; rows, best: the columns that follow the annotation."""
    place = ["layer", "head", "direction", "accuracy"]
    table = pd.DataFrame(rows, columns=["relation", *place]).assign(annotation="universal", part="file")
    write_csv(folder / "relations.csv", table)
    names = ["relation", "chosen", "scored", *place, "offset_accuracy", "above_offset"]
    other = dict.fromkeys(("words", "offset", "other_accuracy"), 1)
    table = pd.DataFrame(best, columns=names).assign(annotation="universal", left_out="", **other)
    write_csv(folder / "best.csv", table)
    return {"relations": [("trees", folder / "relations.csv")], "relations_best": [("trees", folder / "best.csv")]}


CONDITIONS = {"baseline": {}, "zero-dense": {"dense": "zero"}, "one-head": {"1-2": "zero"}}


def atlas(folder: Path, layers: int, heads: int, samples: list[list[str]]) -> dict:
    maps = [maps_of(layers, heads, tokens, seed) for seed, tokens in enumerate(samples)]
    return gather(
        made_up(layers, heads), [("qa", maps)], results(folder, layers, heads), distance_bins=16, conditions=CONDITIONS
    )


def write_page(path: Path, data: dict) -> None:
    path.write_text(page_of(data, {"rule": "write_atlas"}), encoding="utf-8")


def unpacked(text: str) -> bytes:
    return gzip.decompress(base64.b64decode(text))


def attention_in(text: str, layers: int, heads: int, length: int) -> np.ndarray:
    """The maps of one sample that a page holds: [layer, head, query, key]."""
    numbers, rows = unpacked(text), layers * heads * length
    scale = np.frombuffer(numbers, "<u2", rows) / 65535
    levels = np.frombuffer(numbers, np.uint8, offset=2 * rows).reshape(rows, length) / 255
    return (scale[:, None] * levels).reshape(layers, heads, length, length)


def tile(page, name: str):
    layer, head = name.split("-")
    return page.locator(f'.tile[aria-label^="Layer {layer}, head {head}:"]')


def state(page) -> str:
    return unquote_plus(page.evaluate("location.hash"))


def show(page, kept: str) -> None:
    page.goto(f"{page.url.partition('#')[0]}#{kept}")
    page.reload()
    expect(page.locator(".map:not([data-drawn])")).to_have_count(0)
