"""What the first token of a decoder's texts does to the types of its heads, as tables in Markdown.

    snakemake --cores 2 --configfile experiments/decoder.yaml --directory runs/decoder
    cp -r runs/decoder runs/plain
    snakemake --cores 2 --configfile experiments/decoder.yaml --config 'clustering={"first_token": false}' \\
        --directory runs/plain types
    python benchmarks/first_token.py runs/decoder/results runs/plain/results --model smollm2 --task text

The second run clusters anew by the paper's definition, and runs no model. Printed are the types of both runs, and how
much of each layer's attention goes to the first token.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow_scripts"))

import numpy as np
from sklearn.metrics import adjusted_rand_score

from headtypes.analyses.distances.results import read_features
from headtypes.analyses.surface.results import COLUMNS, read_surface
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.files import read_json

_DEFINITIONS = ("first token as `[CLS]`", "the paper's definition")


def main() -> None:
    """Print the tables of two folders of results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "results", nargs=2, type=Path, help="folders of results: with the first token as [CLS], without"
    )
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--task", default="text")
    given = parser.parse_args()
    features = read_features(given.results[0] / f"features/{given.model}/{given.task}.h5")
    patterns = read_surface(given.results[0] / f"surface/{given.model}/{given.task}.h5").patterns
    shares = features.first.sum(-1, dtype=float).mean(0)
    previous = patterns[..., COLUMNS.index("previous")].mean(0)
    print(_types([folder / f"{{}}/{given.model}/{given.task}-kmeans-k4" for folder in given.results], shares))
    print(_layers(shares, previous))


def _types(places: list[Path], shares: np.ndarray) -> str:
    """A row for each type of each partition, and how alike the partitions are."""
    lines = ["| definition | type | heads | near | special | far | heads with a sink | doubtful |"]
    lines.append("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |")
    kept, types = [], []
    for definition, place in zip(_DEFINITIONS, map(str, places), strict=True):
        table = read_partition(place.format("partitions") + ".csv").table
        naming = read_json(place.format("partitions") + ".naming.json")["types"]
        types.append(table["type"].to_numpy())
        for name in ("dense", "diagonal", "dense_vertical", "vertical"):
            of_type = types[-1] == name
            groups = " | ".join(f"{naming[name][group]:.2f}" for group in ("near", "special", "far"))
            sinks = (shares.ravel()[of_type] > 0.5).sum()
            doubt = "yes" if naming[name]["doubt"] else "no"
            lines.append(f"| {definition} | {name} | {of_type.sum()} | {groups} | {sinks} | {doubt} |")
        stability = read_json(place.format("stability") + ".json")
        agree = ", ".join(f"{stability[half]['all_agree']:.1f} % ({half})" for half in ("samples", "heads"))
        kept.append(f"{definition}: all clusterings of halves agree on {agree}.")
    alike = adjusted_rand_score(*types)
    return "\n".join([*lines, "", *(f"- {line}" for line in kept), f"- Adjusted Rand index: {alike:.2f}", ""])


def _layers(shares: np.ndarray, previous: np.ndarray) -> str:
    """A row for each layer: mean share of the first token, heads with a sink, heads of the previous token."""
    lines = [
        "| layer | to the first token | heads with a sink | heads of the previous token |",
        "| ---: | ---: | ---: | --- |",
    ]
    for layer, (of_layer, before) in enumerate(zip(shares, previous, strict=True), start=1):
        heads = ", ".join(f"{layer}-{head + 1} ({before[head]:.2f})" for head in np.flatnonzero(before > 0.5))
        lines.append(f"| {layer} | {of_layer.mean():.2f} | {(of_layer > 0.5).sum()} | {heads} |")
    sinks = f"{(shares > 0.5).sum()} of {shares.size} heads give the first token more than half of their attention."
    return "\n".join([*lines, "", sinks])


if __name__ == "__main__":
    main()
