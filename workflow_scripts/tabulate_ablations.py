from headtypes.planning.job import job, warn
from headtypes.analyses.ablation.control_drops import read_control_drops
from headtypes.analyses.ablation.results import read_intervals
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.files import read_each, read_json
from headtypes.core.markdown import write_table
from headtypes.papers.guan2020.published import read_guan2020
from headtypes.papers.guan2020.shown import ablation_page
from headtypes.papers.guan2020.tables import ablation_table, shortages

with job(snakemake) as (inputs, spec, outputs, provenance):
    controls = {
        key: read_control_drops(path, inputs.scores[key], inputs.baselines[key], seed=spec["seed"])
        for key, path in inputs.controls.items()
    }
    partitions = read_each(read_partition, inputs.partitions)
    table = ablation_table(
        spec["rows"],
        partitions,
        [read_json(inputs.metrics[row["model"], row["partition"], row["condition"]]) for row in spec["rows"]],
        read_guan2020(inputs.reference),
        intervals=read_each(read_intervals, inputs.intervals),
        controls=controls,
    )
    warn(provenance, shortages(table))
    for number in (2, 3):
        of_number = table[table["table"] == number]
        write_table(outputs, of_number, ablation_page(table, number), provenance, f"_{number}")
