"""The job that turns what sets of heads lose into the costs of heads, and sets types and numbers of heads beside
these."""

from typing import Any

from headtypes.analyses.company.costs import costly_heads, head_costs
from headtypes.analyses.company.labels import compare_labels, families_of, without
from headtypes.analyses.company.results import Company
from headtypes.analyses.registry import ANALYSES, analysis_named, by_analysis
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.files import read_each, write_json
from headtypes.core.hdf5_files import read_arrays
from headtypes.core.table_files import write_csv


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `measure_costs`."""
    table, fit = head_costs(read_arrays(inputs.sets, Company), seed=spec["seed"])
    write_csv(outputs.costs, table)
    write_json(outputs.fit, {**fit, "provenance": provenance})
    shape = table["layer"].max() + 1, table["head"].max() + 1
    numbers = {}
    files = {analysis.name: inputs.get(analysis.name, {}) for analysis in ANALYSES} | by_analysis(inputs.own)
    for name, of_tasks in files.items():
        for task, path in of_tasks.items():
            of_heads = analysis_named(name).per_head(task, path)
            columns = [column for column in of_heads if column.categories is None]
            numbers |= {f"{column.label} ({task})": column.values for column in columns}
    families = families_of(read_each(read_partition, inputs.partitions), numbers, shape)
    costs = table["cost"].to_numpy().reshape(shape)
    labels = compare_labels(costs, families, seed=spec["seed"])
    beyond = compare_labels(without(costs, costly_heads(table)), families, seed=spec["seed"])
    write_csv(outputs.labels, labels.assign(p_beyond=beyond["p"]))
