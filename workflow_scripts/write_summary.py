from script_job import job
from headtypes.core.files import write_text
from headtypes.pages.rendering import render
from headtypes.pages.summary.results import collect_summary
from headtypes.pages.summary.verdicts import with_signs

with job(snakemake) as (inputs, spec, outputs, provenance):
    summary = collect_summary(dict(inputs.items()), inputs.captions, page=outputs.page, **spec, provenance=provenance)
    sources = {"html": inputs.template, "css": inputs.style, "js": inputs.script}
    write_text(outputs.page, render(with_signs(vars(summary)), sources, provenance))
