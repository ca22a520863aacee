from headtypes.planning.job import job
from headtypes.core.files import read_json, write_text
from headtypes.core.table_files import write_csv
from headtypes.pages.ledger.page import page_of
from headtypes.pages.rendering import render
from headtypes.papers.ledger.models import over_models
from headtypes.papers.ledger.properties import properties_of, properties_table
from headtypes.papers.ledger.table import ledger_table, together_table

with job(snakemake) as (inputs, spec, outputs, provenance):
    seed = spec.pop("seed")
    ledger = ledger_table(inputs.comparisons, inputs.readings, page=outputs.page, **spec)
    claims = over_models(ledger)
    records = {name: read_json(path) for name, path in inputs.models.items()}
    models = properties_of(records, spec["families"])
    properties = properties_table(ledger, models, seed)
    write_csv(outputs.csv, ledger)
    write_csv(outputs.claims, claims)
    write_csv(outputs.properties, properties)
    write_csv(outputs.models, models.reset_index())
    sources = {"html": inputs.template, "css": inputs.style, "js": inputs.script}
    values = page_of(ledger, claims, together_table(inputs.comparisons), properties)
    write_text(outputs.page, render(values, sources, provenance))
