# One page of all results, which is to be read first.

# Relative to the working directory: a folder that was moved has the same inputs.
SUMMARY = local(os.path.relpath(SCRIPTS / "headtypes" / "pages" / "summary"))
CAPTIONS = local(os.path.relpath(ROOT / "report"))


use rule local_job as write_summary with:
    input:
        **keyed("write_summary", **summary.inputs(plan, paths)),
        captions=expand(f"{CAPTIONS}/{{name}}.rst", name=summary.captions()),
        references=REFERENCE.values(),
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
