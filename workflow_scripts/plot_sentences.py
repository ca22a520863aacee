from headtypes.planning.job import job
from headtypes.core.style import save_figure
from headtypes.papers.clark2019.language.figure5 import sentences_figure
from headtypes.papers.clark2019.language.sentence_files import read_sentence_maps

with job(snakemake) as (inputs, spec, outputs, provenance):
    save_figure(sentences_figure(read_sentence_maps(inputs.maps)), outputs.pdf, outputs.png, provenance)
