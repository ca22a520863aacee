"""The job that makes the paper's Tables 1, 2 and 3, and that of its claims under every reading."""

from typing import Any

from headtypes.analyses.ablation.control_drops import control_drops, read_scored
from headtypes.analyses.ablation.results import read_intervals
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.files import numbered_rows, read_each, read_json
from headtypes.core.progress import warn
from headtypes.core.table_files import write_csv
from headtypes.core.tables import write_table
from headtypes.papers.guan2020.published import Guan2020
from headtypes.papers.guan2020.quantities import read_answers
from headtypes.papers.guan2020.readings import readings_page, readings_table
from headtypes.papers.guan2020.table1 import (
    reservations,
    stability_page,
    stability_shown,
    stability_table,
    with_published,
)
from headtypes.papers.guan2020.tables2_3 import (
    ablation_page,
    ablation_shown,
    ablation_table,
    ablation_values,
    shortages,
)


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    """The job of the rule `tabulate_guan2020`."""
    published = Guan2020.read(inputs.reference)
    partitions = read_each(read_partition, inputs.partitions)
    if rows := spec["stability"]:
        samples = read_each(lambda path: sum(1 for _ in numbered_rows(path)), inputs.counted)
        table = stability_table(rows, partitions, read_each(read_json, inputs.stabilities), samples, published)
        warn(provenance, reservations(table))
        printed = [stability_shown(with_published(table, published))]
        write_table(outputs, table, stability_page(table, published), provenance, "_1", printed)
    ablated = {key: partitions[key] for key in inputs.intervals}
    if rows := spec["ablations"]:
        controls = {
            (*of, name): control_drops(
                *read_scored(inputs.controls[*of, name], inputs.scores[*of, name], inputs.scores[*of, baseline])
            )
            for *of, name, baseline in spec["controls"]
        }
        table = ablation_table(
            rows,
            ablated,
            read_each(read_json, inputs.metrics),
            published,
            intervals=read_each(read_intervals, inputs.intervals),
            controls=controls,
        )
        warn(provenance, shortages(table))
        for number in (2, 3):
            of_number = table[table["table"] == number]
            page, printed = ablation_page(table, number), ablation_shown(table, number)
            write_table(outputs, ablation_values(of_number), page, provenance, f"_{number}", printed)
            write_csv(outputs[f"all_{number}"], of_number)
    if rows := spec["rows_of_readings"]:
        table = readings_table(
            rows,
            spec["readings"],
            ablated,
            read_answers(inputs.scores),
            published,
        )
        write_table(outputs, table, readings_page(table), provenance, "_readings")
