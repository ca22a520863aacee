from headtypes.planning.job import job
from headtypes.analyses.distances.results import read_head_features
from headtypes.analyses.types.embedding import embed_heads
from headtypes.core.table_files import write_csv

with job(snakemake) as (inputs, spec, outputs, _):
    features, shape = read_head_features(inputs.features, **spec["features"])
    write_csv(outputs.places, embed_heads(features, shape, spec["seed"]))
