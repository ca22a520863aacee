# One page for each model, with all its heads, what they look at and what is known of them.

# The parts of the page, so that an edit of one makes the pages again.
ATLAS_PARTS = [
    local(os.path.relpath(part)) for part in sorted((SCRIPTS / "headtypes" / "pages" / "atlas" / "assets").iterdir())
]


rule write_atlas:
    input:
        model=paths.MODEL,
        maps=lambda wildcards: of_each(paths.SAMPLE_MAPS, atlas.tasks_with_maps(plan, wildcards.model)),
        features=in_atlas("features"),
        partitions=in_atlas("partitions"),
        parents=in_atlas("parents"),
        confidence=in_atlas("confidence"),
        intervals=in_atlas("intervals"),
        surfaces=in_atlas("surfaces"),
        gradients=in_atlas("gradients"),
        divergences=in_atlas("divergences"),
        relations=in_atlas("relations"),
        best_heads=in_atlas("best_heads"),
        coreference=in_atlas("coreference"),
        importance=in_atlas("importance"),
        detectors=in_atlas("detectors"),
        parts=ATLAS_PARTS,
    output:
        page=report(
            paths.ATLAS,
            caption="../report/atlas.rst",
            category="Atlas",
            labels={"model": "{model}", "content": "every head"},
        ),
    log:
        "logs/write_atlas/{model}.log",
    benchmark:
        "results/atlas/{model}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("write_atlas"),
    params:
        **identity("write_atlas"),
    script:
        "../workflow_scripts/write_atlas.py"


rule atlas:
    input:
        expand(paths.ATLAS, model=dict.fromkeys(entry.model for entry in plan.features)),
    localrule: True
