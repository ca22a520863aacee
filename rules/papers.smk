# What each paper published beside what was found, and the verdicts on its claims.

# Relative to the working directory: a folder that was moved has the same inputs.
REFERENCE = {name: of_user([os.path.relpath(ROOT / "reference" / f"{name}.yaml")])[0] for name in PAPERS}

if workflow.is_main_process:
    # The processes of jobs read the rules as well, and need not read the papers' data each time. What no model is to
    # stand beside is not read at all: what a paper's claims are judged with takes a second to load.
    try:
        for name, paper in PAPERS.items():
            if any(name in model.published for model in plan.config.models.values()):
                plan.check_published(name, paper.published.read(REFERENCE[name]).rows)
    except InputError as error:
        raise WorkflowError(str(error)) from None


rule compare_with_paper:
    input:
        **keyed("compare_with_paper", results=lambda wildcards: PAPERS[wildcards.paper].inputs(plan, paths)),
        reference=lambda wildcards: REFERENCE[wildcards.paper],
    output:
        **table(
            "results/{paper}/comparison",
            "comparison",
            "{paper}",
            "ours beside the paper's, and its claims",
            "Comparison",
        ),
        quantities="results/{paper}/quantities.csv",
    log:
        "logs/compare_with_paper/{paper}.log",
    benchmark:
        "results/{paper}/comparison.benchmark.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    params:
        **identity("compare_with_paper", lambda wildcards: [REFERENCE[wildcards.paper]]),
    script:
        CALL


rule papers:
    input:
        compared_with(*PAPERS),
