from script_job import job
from headtypes.analyses.coreference.accuracy import read_coreference
from headtypes.analyses.probes.scores import read_probe_scores, read_probes
from headtypes.analyses.relations.accuracy import read_best_heads
from headtypes.core.files import read_each, write_text
from headtypes.core.markdown import write_table
from headtypes.core.tables import latex
from headtypes.papers.clark2019.language.tables import (
    coreference_page,
    coreference_table,
    coreference_tables,
    probe_tables,
    probes_page,
    probes_table,
    relation_tables,
    relations_page,
    relations_table,
)
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.published import read_published

with job(snakemake) as (inputs, spec, outputs, provenance):
    published = read_published(inputs.reference, Clark2019)
    if best := read_each(read_best_heads, inputs.best):
        table = relations_table(best, spec["relations"]["beside"], published)
        write_table(outputs, table, relations_page(table, published), provenance, "_1")
        write_text(outputs["tex_1"], latex(relation_tables(table)))
    if accuracies := read_each(read_coreference, inputs.accuracies):
        table = coreference_table(accuracies, spec["coreference"]["beside"], published)
        write_table(outputs, table, coreference_page(table, published), provenance, "_2")
        write_text(outputs["tex_2"], latex(coreference_tables(table)))
    if scores := read_each(read_probe_scores, inputs.scores):
        table = probes_table(scores, read_each(read_probes, inputs.probes), spec["probes"]["beside"], published)
        write_table(outputs, table, probes_page(table, published), provenance, "_3")
        write_text(outputs["tex_3"], latex(probe_tables(table)))
