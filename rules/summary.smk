# One page of all results, which is to be read first.

# Relative to the working directory: a folder that was moved has the same inputs.
SUMMARY = local(os.path.relpath(SCRIPTS / "headtypes" / "pages" / "summary"))
CAPTIONS = local(os.path.relpath(ROOT / "report"))


use rule local_job as write_summary with:
    input:
        **keyed(
            "write_summary",
            compared=each(rules.tabulate_models.output.pairs, summary.clusterings(plan)),
            partition=each(paths.PARTITION, summary.shown_partitions(plan)),
            joined=each(paths.JOINED, summary.shown_joined(plan)),
            heads=each(rules.plot_heads.output.png, summary.shown_partitions(plan)),
            projection=each(rules.plot_projection.output.png, summary.shown_partitions(plan)),
            layers=each(rules.plot_layers.output.png, summary.shown_partitions(plan)),
            maps=each(rules.plot_maps.output.png, summary.shown_partitions(plan)),
            models=each(rules.plot_models.output.png, summary.clusterings(plan)),
            confidence=each(rules.plot_confidence.output.png, summary.shown_confidence(plan)),
            controls=each(rules.plot_controls.output.png, summary.shown_controls(plan)),
            curves=each(rules.plot_curves.output.png, summary.shown_partitions(plan) if plan.curved else []),
            choice=each(rules.plot_choice.output.png, summary.shown_choices(plan)),
            examples=each(rules.plot_examples.output.png, summary.shown_texts(plan)),
            surface_2=each(rules.plot_surface.output.png_2, summary.shown_texts(plan)),
            surface_4=each(rules.plot_surface.output.png_4, summary.shown_texts(plan)),
            gradients=each(rules.plot_gradients.output.png, summary.shown_gradients(plan)),
            sentences=each(rules.plot_sentences.output.png, summary.shown_sentences(plan)),
            plane=each(rules.plot_plane.output.png, summary.shown_texts(plan)),
            joined_figures=each(rules.plot_joined.output.png, summary.shown_joined(plan)),
        ),
        guan=compared_with("guan2020")[:1],
        clark=compared_with("clark2019")[:1],
        relations=[rules.tabulate_relations.output.csv] if plan.inputs_of("treebank") else [],
        coreference=[rules.tabulate_coreference.output.csv] if plan.inputs_of("coreference") else [],
        probes=[rules.tabulate_probes.output.csv] if plan.probed else [],
        types=[rules.tabulate_stability.output.csv] if plan.clustered else [],
        ablations=(
            [rules.tabulate_ablations.output.csv_2, rules.tabulate_ablations.output.csv_3] if plan.ablations else []
        ),
        captions=expand(f"{CAPTIONS}/{{name}}.rst", name=summary.captions()),
        template=f"{SUMMARY}/page.html",
        style=f"{SUMMARY}/page.css",
        script=f"{SUMMARY}/page.js",
    output:
        page=report(
            paths.SUMMARY,
            caption="../report/summary.rst",
            # Snakemake's report lists categories by name, and this one is to be the first.
            category="At a glance",
            labels={"page": "summary", "content": "findings, tables, figures and files"},
        ),
    log:
        "logs/write_summary.log",
    benchmark:
        "results/index.benchmark.tsv"
    localrule: True
    params:
        **identity("write_summary"),


rule summary:
    input:
        rules.write_summary.output,
