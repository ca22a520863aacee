from headtypes.planning.job import job
from headtypes.analyses.probes.scores import read_probe_scores, read_probes
from headtypes.core.files import read_each
from headtypes.core.markdown import write_table
from headtypes.papers.clark2019.language.table3 import probes_page, probes_table
from headtypes.papers.clark2019.published import read_clark2019

with job(snakemake) as (inputs, spec, outputs, provenance):
    published = read_clark2019(inputs.reference)
    scores = read_each(read_probe_scores, inputs.scores)
    probes = read_each(read_probes, inputs.probes)
    table = probes_table(scores, probes, spec["beside"], published)
    write_table(outputs, table, probes_page(table, published), provenance)
