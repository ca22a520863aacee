from headtypes.planning.job import job
from headtypes.analyses.divergence.projection import project_heads
from headtypes.analyses.divergence.results import read_divergence, write_plane, write_plane_fit

with job(snakemake) as (inputs, spec, outputs, provenance):
    plane, fit = project_heads(read_divergence(inputs.divergence), **spec)
    write_plane(outputs.plane, plane)
    write_plane_fit(outputs.fit, fit, provenance)
