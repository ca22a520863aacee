"""What a run of study.yaml says of the stability of types, in table1.csv and records.json beside this file.

    python gather.py RUN

RUN: the working directory of the run.
"""

import json
import sys
from pathlib import Path

import pandas as pd

HERE, RESULTS = Path(__file__).parent, Path(sys.argv[1]) / "results"
table = pd.read_csv(RESULTS / "guan2020/table1.csv")
table.round(4).to_csv(HERE / "table1.csv", index=False)
records = {
    model: json.loads((RESULTS / f"stability/{model}/{partition}.json").read_text())["provenance"]
    for model, partition in zip(table["model"], table["partition"], strict=True)
}
# A line a model.
lines = ",\n".join(f"{json.dumps(model)}: {json.dumps(record)}" for model, record in records.items())
(HERE / "records.json").write_text(f"{{\n{lines}\n}}\n")
