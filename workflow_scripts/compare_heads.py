from headtypes.planning.job import job
from headtypes.analyses.registry import ANALYSES
from headtypes.comparisons.heads.figure import kinds_figure
from headtypes.comparisons.heads.kinds import find_kinds, kinds_table
from headtypes.comparisons.heads.profiles import read_profiles
from headtypes.core.files import write_text
from headtypes.core.style import save_figure
from headtypes.core.table_files import write_csv
from headtypes.pages.kinds.page import page_of
from headtypes.pages.rendering import render

with job(snakemake) as (inputs, spec, outputs, provenance):
    families, seed = spec.pop("families"), spec.pop("seed")
    measured = {file.name: inputs[file.name] for it in ANALYSES if it.is_aligned for file in it.files}
    profiles = read_profiles(inputs.features, measured, **spec)
    kinds = find_kinds(profiles)
    heads, table = profiles.heads.assign(kind=kinds), kinds_table(profiles, kinds, families, seed)
    write_csv(outputs.heads, heads)
    write_csv(outputs.kinds, table)
    save_figure(kinds_figure(heads, table), outputs.pdf, outputs.png, provenance)
    sources = {"html": inputs.template, "css": inputs.style, "js": inputs.script}
    write_text(outputs.page, render(page_of(spec["task"], heads, table, families), sources, provenance))
