from headtypes.planning.job import job
from headtypes.analyses.distances.results import read_head_features
from headtypes.analyses.types.embedding import embed_heads, write_embedding

with job(snakemake) as (inputs, spec, outputs, _):
    seed = spec.pop("seed")
    features, shape = read_head_features(inputs.features, **spec)
    write_embedding(outputs.places, embed_heads(features, shape, seed))
