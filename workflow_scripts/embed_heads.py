from headtypes.planning.job import job
from headtypes.analyses.distances.results import read_head_features
from headtypes.analyses.types.embedding import embed_heads, write_embedding

with job(snakemake) as (inputs, spec, outputs, _):
    features, shape = read_head_features(inputs.features, **spec["features"])
    write_embedding(outputs.places, embed_heads(features, shape, spec["seed"]))
