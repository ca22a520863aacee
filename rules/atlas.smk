# One page for each model, with all its heads, what they look at and what is known of them.

# The parts of the page, so that an edit of one makes the pages again.
ATLAS_PARTS = [local(os.path.relpath(part)) for part in sorted((SCRIPTS / "headtypes" / "atlas" / "assets").iterdir())]


rule write_atlas:
    input:
        model=paths.MODEL,
        maps=in_atlas(atlas.tasks_with_maps, paths.SAMPLE_MAPS),
        features=in_atlas(atlas.main_task_of, paths.FEATURES),
        partitions=in_atlas(atlas.partitions_of, paths.PARTITION),
        confidence=in_atlas(atlas.confident_of, paths.CONFIDENCE),
        intervals=in_atlas(atlas.ablated_of, paths.INTERVALS),
        surfaces=of_analysis("surfaces", paths.SURFACE),
        gradients=of_analysis("gradients", paths.GRADIENTS),
        divergences=of_analysis("divergences", paths.DIVERGENCE),
        relations=of_analysis("relations", paths.RELATIONS),
        best_heads=of_analysis("relations", paths.RELATIONS_BEST),
        coreference=of_analysis("coreference", paths.COREFERENCE),
        importance=of_analysis("importance", paths.IMPORTANCE),
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
        of_each(paths.ATLAS, atlas.models_with_maps(plan)),
    localrule: True
