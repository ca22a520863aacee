from headtypes.planning.job import job
from headtypes.analyses.divergence.projection import project_heads
from headtypes.analyses.divergence.results import read_divergence, write_projection, write_projection_fit

with job(snakemake) as (inputs, spec, outputs, provenance):
    projection, fit = project_heads(read_divergence(inputs.divergence), **spec)
    write_projection(outputs.projection, projection)
    write_projection_fit(outputs.fit, fit, provenance)
