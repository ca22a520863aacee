# One page of all results, which is to be read first, and one of every claim in every model.

# Relative to the working directory, as those of pages are.
CAPTIONS = local(os.path.relpath(ROOT / "report"))
# The parts of both pages, so that an edit of one makes them again.
PAGE_PARTS = [f"{PAGES}/{name}" for name in ("base.html", "tables.js", "summary/page.css")]
# Snakemake's report lists categories by name, and this one is to be the first.
AT_FIRST = "At a glance"


rule write_summary:
    input:
        **inputs_by_key(pages.write_summary, **pages.inputs_of_summary(plan)),
        captions=expand(f"{CAPTIONS}/{{name}}.rst", name=[figure.caption for figure in pages.FIGURES]),
        references=REFERENCE.values(),
        parts=[*PAGE_PARTS, *(f"{PAGES}/summary/{name}" for name in ("overview.html", "page.html", "page.js"))],
    output:
        page=entry(pages.SUMMARY.path, "summary", AT_FIRST, "findings, tables, figures and files", page="summary"),
    log:
        "logs/write_summary.log",
    benchmark:
        "results/index.benchmark.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **identity(pages.write_summary, lambda wildcards: REFERENCE.values()),
    script:
        CALL


rule write_ledger:
    input:
        **inputs_by_key(pages.write_ledger, **pages.inputs_of_ledger(plan)),
        parts=[*PAGE_PARTS, *(f"{PAGES}/ledger/page.{kind}" for kind in ("html", "css", "js"))],
    output:
        page=entry("results/ledger.html", "ledger", AT_FIRST, "every claim in every model", page="ledger"),
        csv="results/ledger.csv",
        claims=pages.CLAIMS.path,
    log:
        "logs/write_ledger.log",
    benchmark:
        "results/ledger.benchmark.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **identity(pages.write_ledger),
    script:
        CALL


rule summary:
    input:
        rules.write_summary.output,
        rules.write_ledger.output if pages.comparisons(plan) else [],
