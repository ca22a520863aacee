from headtypes.choice import compare_clusterings
from headtypes.columns import FINE_WINDOWS
from headtypes.figures.choice import choice_figure
from headtypes.figures.style import save_figure
from headtypes.files import write_csv
from headtypes.storage import read_distance
from headtypes.workflow import job

with job(snakemake) as (inputs, spec, outputs, made):
    choice = compare_clusterings(read_distance(inputs.features, FINE_WINDOWS), **spec)
    write_csv(outputs.ways, choice.table)
    write_csv(outputs.agreement, choice.agreement)
    write_csv(outputs.best, choice.best)
    save_figure(choice_figure(choice, spec["windows"]), outputs.pdf, outputs.png, made)
