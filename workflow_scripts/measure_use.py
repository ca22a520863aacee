from headtypes.planning.job import job
from headtypes.analyses.relations.guesses import read_arcs
from headtypes.analyses.relations.parts import read_parts
from headtypes.analyses.use.measure import measure_use
from headtypes.core.table_files import write_parquet
from headtypes.models.records import read_model_record

with job(snakemake) as (inputs, spec, outputs, _):
    parts, model = read_parts(inputs.rows, inputs.test), read_model_record(inputs.model)
    write_parquet(outputs.losses, measure_use(parts, read_arcs(inputs.arcs), model, **spec))
