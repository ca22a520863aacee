from headtypes.planning.job import job
from headtypes.core.files import write_text
from headtypes.core.markdown import to_html
from headtypes.core.table_files import write_csv
from headtypes.papers.paper import by_kind
from headtypes.papers.registry import PAPERS

with job(snakemake) as (inputs, spec, outputs, provenance):
    paper = PAPERS[spec.pop("paper")]
    compared = paper.compare(by_kind(inputs.results), paper.read(inputs.reference), spec)
    write_csv(outputs.quantities, compared.quantities)
    write_csv(outputs.csv, compared.table)
    write_text(outputs.markdown, compared.page)
    write_text(outputs.html, to_html(compared.page, provenance))
