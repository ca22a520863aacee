"""What random company says in several runs, in three tables beside this file.

    PYTHONPATH=workflow_scripts python gather.py NAME=FOLDER/MODEL/TASK ...

NAME: what the tables call the run; FOLDER: its working directory. With NAME again as `NAME=FOLDER/MODEL/TASK@SAME`,
attention to the same word is read of another model, SAME, as well.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from headtypes.analyses.company.costs import costly_heads
from headtypes.analyses.same_word.measure import SameWord
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.table_files import head_name

HERE = Path(__file__).parent


def same_word(file: Path, place: str) -> np.ndarray | None:
    """Return what each head gives to the same word, in percent, [head]; None where it was not read."""
    return 100 * read_arrays(file, SameWord).mean(place).ravel() if file.exists() else None


runs, heads, labels, records = [], [], [], {}
for argument in sys.argv[1:]:
    name, _, where = argument.partition("=")
    where, _, parent = where.partition("@")
    results, model, task = Path(where).parents[1] / "results", Path(where).parent.name, Path(where).name
    company = results / "company" / model
    table = pd.read_csv(company / f"{task}.csv")
    fit = json.loads((company / f"{task}.json").read_text())
    kinds = pd.read_csv(results / f"partitions/{model}/{task}-kmeans-k4.csv")
    costly = costly_heads(table).index
    of_heads = table.assign(
        run=name,
        name=[head_name(*each) for each in zip(table["layer"], table["head"], strict=True)],
        type=kinds["type"],
        doubtful=kinds["doubtful"],
        matters=table.index.isin(costly),
    )
    for of, other in {"": model, "_parent": parent}.items():
        for place in ("other", "own"):
            of_heads[f"same_{place}{of}"] = same_word(results / f"same_word/{other}/{task}.h5", place)
    ranked = of_heads.sort_values("cost", ascending=False)
    numbers = {
        "run": name,
        "heads": len(table),
        **{key: fit[key] for key in ("sets", "units", "away", "penalty", "half")},
        **{
            f"{key}_{metric}": fit[key][metric]
            for key in ("whole", "set_cost", "r2", "held_out", "halves")
            for metric in fit[key]
        },
        "matter": len(costly),
        "pair": " and ".join(fit["pair"]["heads"]),
        "pair_effect": fit["pair"]["effect"],
        "pair_p": fit["pair"]["p"],
        "costliest": ", ".join(ranked["name"][:5]),
    }
    if ranked["same_other"].notna().any():
        numbers["most_same_word"] = ", ".join(ranked.sort_values("same_other", ascending=False)["name"][:5])
        numbers["same_word_correlation"] = ranked["cost"].corr(ranked["same_other"])
    if heads and len(heads[0]) == len(of_heads):
        # With the costs of the first run, and without its two costliest heads.
        first, others = heads[0]["cost"], heads[0]["cost"].nsmallest(len(of_heads) - 2).index
        numbers["correlation_with_first"] = first.corr(of_heads["cost"])
        numbers["correlation_of_others"] = first[others].corr(of_heads["cost"][others])
    runs.append(numbers)
    kept = ["run", "name", "type", "doubtful", "away", "cost", "standard_error", "low", "high", "p_holm", "matters"]
    heads.append(
        of_heads[[*kept, *(c for c in of_heads if c in ("cost_f1", "cost_f1_error") or c.startswith("same_"))]]
    )
    labels.append(pd.read_csv(company / f"{task}.labels.csv").assign(run=name))
    records[name] = fit["provenance"]

pd.DataFrame(runs).round(4).to_csv(HERE / "runs.csv", index=False)
pd.concat(heads).dropna(axis=1, how="all").round(4).to_csv(HERE / "heads.csv", index=False)
order = ["run", "family", "label", "heads", "statistic", "p", "p_beyond"]
pd.concat(labels)[order].round(4).to_csv(HERE / "labels.csv", index=False)
(HERE / "records.json").write_text(json.dumps(records, indent=1) + "\n")
