from headtypes.planning.job import job
from headtypes.analyses.use.finders import read_found
from headtypes.analyses.use.results import read_losses, use_table
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, _):
    found, _ = read_found(inputs.searched, inputs.test, inputs.guesses, **spec.pop("listed"))
    write_csv(outputs.table, use_table(found, read_losses(inputs.losses), **spec))
