from headtypes.files import write_json
from headtypes.sources import fetch_model
from headtypes.support import check_model
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, _):
    model = fetch_model(**spec)
    check_model(model)
    write_json(outputs.model, model)
