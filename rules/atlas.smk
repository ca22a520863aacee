# One page for each model, with all its heads, what they look at and what is known of them.

# The parts of the page, so that an edit of one makes the pages again.
ATLAS_PARTS = [
    local(os.path.relpath(part))
    for folder in [SCRIPTS / "headtypes" / "pages"]
    for part in [folder / "base.html", *sorted((folder / "atlas" / "assets").iterdir())]
]


rule write_atlas:
    input:
        **inputs_by_key(
            pages.write_atlas,
            **{
                kind: paths_by_key(file.path, partial(pages.results_of, plan, kind))
                for kind, file in pages.IN_ATLAS.items()
            },
            maps=paths_by_key(distances.FEW_SAMPLES.path, partial(pages.tasks_with_maps, plan), "task"),
        ),
        model=models.RECORD.path,
        parts=ATLAS_PARTS,
    output:
        page=entry(pages.ATLAS.path, "atlas", "Atlas", "every head", model="{model}"),
    log:
        "logs/write_atlas/{model}.log",
    benchmark:
        "results/atlas/{model}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs(pages.write_atlas),
    params:
        **identity(pages.write_atlas),
    script:
        CALL
