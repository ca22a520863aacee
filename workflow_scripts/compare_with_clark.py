from headtypes.planning.job import job
from headtypes.core.files import write_text
from headtypes.core.markdown import to_html
from headtypes.core.table_files import write_csv
from headtypes.papers.clark2019.comparison import KEYS, compare_with_clark, comparison_page
from headtypes.papers.clark2019.language.results import collect_coreference, collect_treebanks
from headtypes.papers.clark2019.published import read_clark2019
from headtypes.papers.clark2019.quantities import collect_all
from headtypes.papers.comparison import tidy_table

with job(snakemake) as (inputs, spec, outputs, provenance):
    published, seed = read_clark2019(inputs.reference), spec["seed"]
    quantities = collect_all(inputs.surfaces, inputs.gradients, inputs.fits, published, seed=seed)
    how = {**spec["relations"], "seed": seed}
    quantities |= collect_treebanks(inputs.arcs, inputs.sentences, inputs.tests, inputs.probes, published, **how)
    quantities |= collect_coreference(inputs.antecedents, inputs.documents, published, seed=seed)
    table = compare_with_clark(quantities, spec["beside"], published)
    page = comparison_page(table, published)
    write_csv(outputs.quantities, tidy_table(quantities, KEYS))
    write_csv(outputs.csv, table)
    write_text(outputs.markdown, page)
    write_text(outputs.html, to_html(page, provenance))
