# Heads of several models on the same inputs, aligned by what they do: which kinds there are, and in how many models.


rule compare_heads:
    input:
        **keyed(
            "compare_heads",
            features=each(paths.FEATURES, lambda task: plan.compared_heads[task], "model"),
            **{
                file.name: each(file.path, partial(plan.aligned, it))
                for it in ANALYSES
                if it.is_aligned
                for file in it.files
            },
        ),
        template=[f"{PAGES}/base.html", f"{PAGES}/kinds/page.html"],
        style=[f"{PAGES}/summary/page.css", f"{PAGES}/kinds/page.css"],
        script=[f"{PAGES}/tables.js"],
    output:
        **figure("results/compared_heads/{task}", "compared_heads", "kinds of heads", "models", "Both papers"),
        heads=paths.COMPARED_HEADS,
        kinds="results/compared_heads/{task}.kinds.csv",
        page=entry(
            "results/compared_heads/{task}.html", "kinds", "Both papers", "every head by its kind", task="{task}"
        ),
    log:
        "logs/compare_heads/{task}.log",
    benchmark:
        "results/compared_heads/{task}.benchmark.tsv"
    conda:
        ENVIRONMENT
    resources:
        **needs("compare_heads"),
    params:
        **identity("compare_heads"),
    script:
        "../workflow_scripts/compare_heads.py"


rule compared_heads:
    input:
        expand(paths.COMPARED_HEADS, task=plan.compared_heads),
