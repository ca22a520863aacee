# One page for each model, with all its heads, what they look at and what is known of them.

# The parts of the page, so that an edit of one makes the pages again.
ATLAS_PARTS = [
    local(os.path.relpath(part))
    for pages in [SCRIPTS / "headtypes" / "pages"]
    for part in [pages / "base.html", *sorted((pages / "atlas" / "assets").iterdir())]
]


rule write_atlas:
    input:
        **inputs_by_key(
            atlas.write_atlas,
            **{
                kind: paths_by_key(file.path, partial(atlas.results_of, plan, kind))
                for kind, file in atlas.SHOWN.items()
            },
            maps=paths_by_key(distances.FEW_SAMPLES.path, partial(atlas.tasks_with_maps, plan), "task"),
        ),
        model=models.RECORD.path,
        parts=ATLAS_PARTS,
    output:
        page=entry(atlas.PAGE.path, "atlas", "Atlas", "every head", model="{model}"),
    log:
        "logs/write_atlas/{model}.log",
    benchmark:
        "results/atlas/{model}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs(atlas.write_atlas),
    params:
        **identity(atlas.write_atlas),
    script:
        CALL
