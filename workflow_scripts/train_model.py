from headtypes.planning.job import job
from headtypes.training.copying import train_model

with job(snakemake) as (_, spec, outputs, _):
    train_model(outputs.folder, **spec)
