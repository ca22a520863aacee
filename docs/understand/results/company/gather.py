"""Gather runs of heads in random company into the three tables and the records beside this file.

    PYTHONPATH=workflow_scripts python gather.py NAME=FOLDER/MODEL/TASK ...

NAME: name of the run in the tables, whose rows are replaced; rows of other runs stay. FOLDER: the run's working
directory. `NAME=FOLDER/MODEL/TASK@PARENT` also gathers attention to the same word in another model, PARENT.
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


def write(rows: pd.DataFrame, file: str) -> None:
    """Write rows below those of other runs that the file has."""
    earlier = pd.read_csv(HERE / file) if (HERE / file).exists() else pd.DataFrame(columns=["run"])
    earlier = earlier[~earlier["run"].isin(rows["run"])]
    pd.concat([earlier, rows.dropna(axis=1, how="all").round(4)]).to_csv(HERE / file, index=False)


def same_word(file: Path, place: str) -> np.ndarray | None:
    """Return what each head gives to the same word, in percent, [head]; None where it was not read."""
    return 100 * read_arrays(file, SameWord).mean(place).ravel() if file.exists() else None


runs, heads, labels, records = [], [], [], {}
earlier = pd.read_csv(HERE / "heads.csv") if (HERE / "heads.csv").exists() else None
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
        # Of all heads but the two costliest.
        numbers["same_word_correlation_of_others"] = ranked["cost"][2:].corr(ranked["same_other"][2:])
    earlier = of_heads if earlier is None else earlier
    first = earlier[earlier["run"] == earlier["run"].iloc[0]].reset_index(drop=True)
    if name != first["run"][0] and first["name"].tolist() == of_heads["name"].tolist():
        # All heads, and all but the two that cost most in the first run.
        others = first["cost"].nsmallest(len(of_heads) - 2).index
        numbers["correlation_with_first"] = first["cost"].corr(of_heads["cost"])
        numbers["correlation_of_others"] = first["cost"][others].corr(of_heads["cost"][others])
    runs.append(numbers)
    kept = ["run", "name", "type", "doubtful", "away", "cost", "standard_error", "low", "high", "p_holm", "matters"]
    heads.append(
        of_heads[[*kept, *(c for c in of_heads if c in ("cost_f1", "cost_f1_error") or c.startswith("same_"))]]
    )
    labels.append(pd.read_csv(company / f"{task}.labels.csv").assign(run=name))
    records[name] = fit["provenance"]

order = ["run", "family", "label", "heads", "statistic", "p", "p_beyond"]
write(pd.DataFrame(runs), "runs.csv")
write(pd.concat(heads), "heads.csv")
write(pd.concat(labels)[order], "labels.csv")
known = json.loads((HERE / "records.json").read_text()) if (HERE / "records.json").exists() else {}
(HERE / "records.json").write_text(json.dumps(known | records, indent=1) + "\n")
