"""What a run of texts.yaml says of each model, in two tables and the records beside this file.

    PYTHONPATH=workflow_scripts python gather.py RUN TASK

RUN: the working directory of the run. The rows of its models are replaced; rows of other models stay.
"""

import json
import sys
from pathlib import Path

import pandas as pd

from headtypes.analyses.distances.features import read_head_features
from headtypes.analyses.types.gaps import head_gaps, measured_gaps, p_of_gaps

HERE = Path(__file__).parent


def write(rows: pd.DataFrame, file: str) -> None:
    """Write rows below those of other models that the file has."""
    earlier = pd.read_csv(HERE / file) if (HERE / file).exists() else pd.DataFrame(columns=["model"])
    earlier = earlier[~earlier["model"].isin(rows["model"])]
    pd.concat([earlier, rows.round(4)]).to_csv(HERE / file, index=False)


results, task = Path(sys.argv[1]) / "results", sys.argv[2]
claims = pd.read_csv(results / "clark2019/comparison.csv").query("kind == 'claim' and verdict != 'no verdict'")
kept = ["id", "model", "ours", "low", "high", "p", "verdict", "verdict_holm", "n_segments"]
write(claims[kept], "claims.csv")
rows, records = [], {}
for file in sorted((results / "stability").glob(f"*/{task}-kmeans-k4.json")):
    model = file.parent.name
    found = json.loads(file.read_text())
    heads = pd.read_csv(results / f"partitions/{model}/{task}-kmeans-k4.csv")
    records[model] = found["provenance"]
    features, _ = read_head_features(results / f"features/{model}/{task}.h5", distance_bins=16)
    dips = head_gaps(features, seed=0)
    gaps = measured_gaps(dips, len(heads))
    beyond = {
        f"{name}{end}": value
        for name, gap in gaps.items()
        for end, value in (("", gap.value), ("_low", gap.low), ("_high", gap.high))
    }
    halves = {f"{half}_all_agree": found[half]["all_agree"] for half in ("heads", "samples", "pairs") if found[half]}
    doubtful = heads.groupby("type")["doubtful"].any()
    rows.append(
        {
            "model": model,
            "heads": len(heads),
            **beyond,
            "p": p_of_gaps(dips, len(heads)),
            **{f"chosen_{by}": value for by, value in found["chosen"].items()},
            **halves,
            "doubtful_names": int(doubtful.sum()),
        }
    )
write(pd.DataFrame(rows), "types.csv")
known = json.loads((HERE / "records.json").read_text()) if (HERE / "records.json").exists() else {}
(HERE / "records.json").write_text(json.dumps(known | records, indent=1) + "\n")
