from headtypes.planning.job import job
from headtypes.analyses.coreference.results import read_coreference
from headtypes.core.files import read_each
from headtypes.core.markdown import write_table
from headtypes.papers.clark2019.language.table2 import coreference_page, coreference_table
from headtypes.papers.clark2019.published import read_clark2019

with job(snakemake) as (inputs, spec, outputs, provenance):
    published = read_clark2019(inputs.reference)
    accuracies = read_each(read_coreference, inputs.accuracies)
    table = coreference_table(accuracies, spec["beside"], published)
    write_table(outputs, table, coreference_page(table, published), provenance)
