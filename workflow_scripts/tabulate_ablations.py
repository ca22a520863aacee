from headtypes.planning.job import job, warn
from headtypes.analyses.ablation.control_drops import read_control_drops
from headtypes.analyses.ablation.results import read_intervals
from headtypes.analyses.types.partitions import read_partition
from headtypes.core.files import read_json, write_text
from headtypes.core.markdown import to_html
from headtypes.core.table_files import write_csv
from headtypes.papers.guan2020.published import read_guan2020
from headtypes.papers.guan2020.shown import ablation_page
from headtypes.papers.guan2020.tables import ablation_table, shortages
from headtypes.papers.keys import by_key

with job(snakemake) as (inputs, spec, outputs, provenance):
    of_controls = zip(inputs.controls, inputs.scores, inputs.baselines, strict=True)
    partitions = by_key(spec["partitions"], map(read_partition, inputs.partitions))
    table = ablation_table(
        spec["rows"],
        partitions,
        [read_json(path) for path in inputs.metrics],
        read_guan2020(inputs.reference),
        intervals=by_key(spec["partitions"], map(read_intervals, inputs.intervals)),
        controls=by_key(spec["controls"], (read_control_drops(*paths, seed=spec["seed"]) for paths in of_controls)),
    )
    warn(provenance, shortages(table))
    for number in (2, 3):
        page = ablation_page(table, number)
        write_csv(outputs[f"csv_{number}"], table[table["table"] == number])
        write_text(outputs[f"markdown_{number}"], page)
        write_text(outputs[f"html_{number}"], to_html(page, provenance))
