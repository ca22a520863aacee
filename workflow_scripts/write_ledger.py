from script_job import job
from headtypes.core.files import write_text
from headtypes.core.table_files import write_csv
from headtypes.pages.ledger.page import page_of
from headtypes.papers.ledger.models import over_models
from headtypes.papers.ledger.table import ledger_table, together_table

with job(snakemake) as (inputs, spec, outputs, provenance):
    ledger = ledger_table(inputs.comparisons, inputs.readings, page=outputs.page, **spec)
    claims = over_models(ledger)
    write_csv(outputs.csv, ledger)
    write_csv(outputs.claims, claims)
    write_text(outputs.page, page_of(ledger, claims, together_table(inputs.comparisons), provenance))
