from headtypes.workflow.job import job
from headtypes.base.files import write_text
from headtypes.base.table_files import write_csv
from headtypes.papers.clark2019.comparison import KEYS, compare_with_clark, comparison_page
from headtypes.papers.clark2019.published import read_clark2019
from headtypes.papers.clark2019.results import collect_all
from headtypes.papers.comparison import tidy_table
from headtypes.papers.keys import by_key
from headtypes.papers.markdown import to_html

with job(snakemake) as (inputs, spec, outputs, provenance):
    published = read_clark2019(inputs.reference)
    gradients = by_key(spec["gradients"], inputs.gradients)
    surfaces, fits = by_key(spec["subjects"], inputs.surfaces), by_key(spec["subjects"], inputs.fits)
    quantities = collect_all(surfaces, gradients, fits, published, seed=spec["seed"])
    table = compare_with_clark(quantities, {tuple(key) for key in spec["beside"]}, published)
    page = comparison_page(table, published)
    write_csv(outputs.quantities, tidy_table(quantities, KEYS))
    write_csv(outputs.csv, table)
    write_text(outputs.markdown, page)
    write_text(outputs.html, to_html(page, provenance))
