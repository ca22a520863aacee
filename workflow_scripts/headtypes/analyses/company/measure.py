"""The job that turns what sets of heads lose into the costs of heads, and sets types and numbers of heads beside
these."""

from typing import Any

from headtypes.analyses.company.costs import costly_heads, head_costs
from headtypes.analyses.company.labels import compare_labels, families_of, without
from headtypes.analyses.company.results import Company
from headtypes.analyses.declaration import Column
from headtypes.analyses.registry import ANALYSES, analysis_named, by_analysis
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.errors import InputError
from headtypes.core.files import read_each, write_json
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.table_files import write_csv


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    table, fit = head_costs(read_arrays(inputs.sets, Company), seed=spec["seed"])
    write_json(outputs.fit, {**fit, "provenance": provenance})
    partitions, columns = read_each(read_partition, inputs.partitions), _columns(inputs)
    types = {f"type ({name})": partition.table["type"] for name, partition in partitions.items()}
    write_csv(outputs.costs, table.assign(**types, **{name: column.named() for name, column in columns.items()}))
    shape = table["layer"].max() + 1, table["head"].max() + 1
    numbers = {name: column.values for name, column in columns.items() if column.categories is None}
    families = families_of(partitions, numbers, shape)
    costs = table["cost"].to_numpy().reshape(shape)
    labels = compare_labels(costs, families, seed=spec["seed"])
    beyond = compare_labels(without(costs, costly_heads(table)), families, seed=spec["seed"])
    write_csv(outputs.labels, labels.assign(p_beyond=beyond["p"]))


def _columns(inputs: Any) -> dict[str, Column]:
    """Return the numbers of each head from other analyses, by their label and task."""
    columns = {}
    ours = {analysis.name: [inputs.get(file.name, {}) for file in analysis.files] for analysis in ANALYSES}
    own = {name: [of_tasks] for name, of_tasks in by_analysis(inputs.own).items()}
    for analysis, files in (ours | own).items():
        for task in files[0] if files else ():
            for column in analysis_named(analysis).per_head(task, *(of_task[task] for of_task in files)):
                name = f"{column.label} ({task})"
                if name in columns:
                    raise InputError(f"Two columns of heads are called {name}; rename that of {analysis}.")
                columns[name] = column
    return columns
