from headtypes.planning.job import job
from headtypes.analyses.relations.results import read_best_heads
from headtypes.core.files import read_each
from headtypes.core.markdown import write_table
from headtypes.papers.clark2019.language.table1 import relations_page, relations_table
from headtypes.papers.clark2019.published import read_clark2019

with job(snakemake) as (inputs, spec, outputs, provenance):
    published = read_clark2019(inputs.reference)
    best = read_each(read_best_heads, inputs.best)
    table = relations_table(best, spec["beside"], published)
    write_table(outputs, table, relations_page(table, published), provenance)
