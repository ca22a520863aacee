from script_job import job
from headtypes.core.style import save_figure
from headtypes.models.records import read_model_record
from headtypes.papers.clark2019.figures.lines import sentences_figure
from headtypes.papers.clark2019.language.best import write_sentence_maps
from headtypes.papers.clark2019.language.sentences import map_sentences, read_chosen

with job(snakemake) as (inputs, spec, outputs, provenance):
    chosen = read_chosen(spec.pop("kind"), inputs.rows, inputs.guesses, inputs.best)
    maps = map_sentences(chosen, read_model_record(inputs.model), **spec)
    write_sentence_maps(outputs.maps, maps, provenance)
    save_figure(sentences_figure(maps), outputs.pdf, outputs.png, provenance)
