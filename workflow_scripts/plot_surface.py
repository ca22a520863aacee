from headtypes.planning.job import job
from headtypes.analyses.surface.results import read_surface
from headtypes.core.style import save_figure
from headtypes.papers.clark2019.figures.figure2 import surface_figure
from headtypes.papers.clark2019.figures.figure4 import entropy_figure
from headtypes.papers.clark2019.published import read_clark2019
from headtypes.papers.clark2019.statistics import published_statistics, whole_statistics

with job(snakemake) as (inputs, spec, outputs, provenance):
    published = read_clark2019(inputs.reference)
    ours = whole_statistics(read_surface(inputs.surface), None, published)
    theirs = published_statistics(published) if spec["beside"] else None
    save_figure(surface_figure(ours, theirs), outputs.pdf_2, outputs.png_2, provenance)
    save_figure(entropy_figure(ours, theirs), outputs.pdf_4, outputs.png_4, provenance)
