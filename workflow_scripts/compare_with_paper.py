from script_job import job
from headtypes.core.table_files import write_csv
from headtypes.core.tables import write_table
from headtypes.papers.paper import by_kind
from headtypes.papers.registry import PAPERS

with job(snakemake) as (inputs, spec, outputs, provenance):
    paper = PAPERS[spec.pop("paper")]
    compared = paper.compare(by_kind(inputs.results), paper.published.read(inputs.reference), spec)
    write_csv(outputs.quantities, compared.quantities)
    write_table(outputs, compared.table, compared.page, provenance)
