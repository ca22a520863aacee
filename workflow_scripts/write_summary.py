from headtypes.workflow.job import job
from headtypes.atlas.summary.page import summary_page
from headtypes.atlas.summary.results import collect_summary
from headtypes.base.files import write_text

with job(snakemake) as (inputs, spec, outputs, provenance):
    files = {name: list(getattr(inputs, name)) for name in spec.pop("inputs")}
    summary = collect_summary(files, inputs.captions, page=outputs.page, **spec, provenance=provenance)
    sources = {"html": inputs.template, "css": inputs.style, "js": inputs.script}
    write_text(outputs.page, summary_page(summary, sources, provenance))
