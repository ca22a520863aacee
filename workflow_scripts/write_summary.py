from script_job import job
from headtypes.core.files import write_text
from headtypes.pages.summary.results import collect_summary, page_of

with job(snakemake) as (inputs, spec, outputs, provenance):
    values = collect_summary(dict(inputs.items()), inputs.captions, page=outputs.page, **spec, provenance=provenance)
    write_text(outputs.page, page_of(values, provenance))
