from headtypes.planning.job import job
from headtypes.core.files import write_text
from headtypes.core.markdown import to_html
from headtypes.core.table_files import write_csv
from headtypes.papers.clark2019.comparison import KEYS, compare_with_clark, comparison_page
from headtypes.papers.clark2019.language.results import collect_coreference, collect_treebanks
from headtypes.papers.clark2019.published import read_clark2019
from headtypes.papers.clark2019.quantities import collect_all
from headtypes.papers.comparison import tidy_table
from headtypes.papers.keys import by_key

with job(snakemake) as (inputs, spec, outputs, provenance):
    published, seed = read_clark2019(inputs.reference), spec["seed"]
    gradients = by_key(spec["gradients"], inputs.gradients)
    surfaces, fits = by_key(spec["subjects"], inputs.surfaces), by_key(spec["subjects"], inputs.fits)
    quantities = collect_all(surfaces, gradients, fits, published, seed=seed)
    arcs, probes = by_key(spec["treebanks"], inputs.arcs), by_key(spec["probed"], inputs.probes)
    tests = dict(zip(spec["tests"], inputs.tests, strict=True))
    how = {**spec["relations"], "seed": seed}
    quantities |= collect_treebanks(arcs, inputs.sentences, tests, probes, published, **how)
    antecedents = by_key(spec["documents"], inputs.antecedents)
    quantities |= collect_coreference(antecedents, inputs.documents, published, seed=seed)
    table = compare_with_clark(quantities, spec["beside"], published)
    page = comparison_page(table, published)
    write_csv(outputs.quantities, tidy_table(quantities, KEYS))
    write_csv(outputs.csv, table)
    write_text(outputs.markdown, page)
    write_text(outputs.html, to_html(page, provenance))
