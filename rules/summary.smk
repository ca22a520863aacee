# One page of all results, which is to be read first, and one of every claim in every model.

# Relative to the working directory, as those of pages are.
CAPTIONS = local(os.path.relpath(ROOT / "report"))
# The parts of both pages, so that an edit of one makes them again.
PAGE_PARTS = [f"{PAGES}/{name}" for name in ("base.html", "tables.js", "summary/page.css")]
# Snakemake's report lists categories by name, and this one is to be the first.
AT_FIRST = "At a glance"


rule write_summary:
    input:
        **inputs_by_key(summary.write_summary, **summary.inputs(plan)),
        captions=expand(f"{CAPTIONS}/{{name}}.rst", name=[figure.caption for figure in summary.FIGURES]),
        references=REFERENCE.values(),
        parts=[*PAGE_PARTS, *(f"{PAGES}/summary/{name}" for name in ("overview.html", "page.html", "page.js"))],
    output:
        page=entry(summary.PAGE.path, "summary", AT_FIRST, "findings, tables, figures and files", page="summary"),
    log:
        "logs/write_summary.log",
    benchmark:
        "results/index.benchmark.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **identity(summary.write_summary, lambda wildcards: REFERENCE.values()),
    script:
        CALL


rule write_ledger:
    input:
        **inputs_by_key(ledger.write_ledger, **ledger.inputs(plan)),
        parts=[*PAGE_PARTS, *(f"{PAGES}/ledger/page.{kind}" for kind in ("html", "css", "js"))],
    output:
        page=entry("results/ledger.html", "ledger", AT_FIRST, "every claim in every model", page="ledger"),
        csv="results/ledger.csv",
        claims=ledger.CLAIMS.path,
    log:
        "logs/write_ledger.log",
    benchmark:
        "results/ledger.benchmark.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **identity(ledger.write_ledger),
    script:
        CALL


rule summary:
    input:
        rules.write_summary.output,
        rules.write_ledger.output if ledger.comparisons(plan) else [],
