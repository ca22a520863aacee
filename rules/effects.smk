# What leaving out each head costs, and how well that of any set of heads is predicted (Shah et al. 2024).


use rule job as evaluate_subsets with:
    input:
        model=paths.MODEL,
        questions=paths.QUESTIONS,
        windows=paths.WINDOWS,
    output:
        subsets=paths.SUBSETS,
    log:
        "logs/evaluate_subsets/{model}/{task}.log",
    benchmark:
        "results/effects/{model}/{task}.subsets.benchmark.tsv"
    params:
        **identity("evaluate_subsets"),


use rule job as measure_effects with:
    input:
        subsets=paths.SUBSETS,
        features=paths.FEATURES,
    output:
        heads=paths.EFFECTS,
        pairs=paths.EFFECTS_PAIRS,
        draws=paths.EFFECTS_DRAWS,
        fit=paths.EFFECTS_FIT,
        traits=paths.EFFECTS_TRAITS,
    log:
        "logs/measure_effects/{model}/{task}.log",
    benchmark:
        "results/effects/{model}/{task}.benchmark.tsv"
    params:
        **identity("measure_effects"),


use rule job as evaluate_cheapest with:
    input:
        model=paths.MODEL,
        questions=paths.QUESTIONS,
        windows=paths.WINDOWS,
        subsets=paths.SUBSETS,
    output:
        cheapest=paths.CHEAPEST,
    log:
        "logs/evaluate_cheapest/{model}/{task}.log",
    benchmark:
        "results/effects/{model}/{task}.cheapest.benchmark.tsv"
    params:
        **identity("evaluate_cheapest"),


use rule job as plot_effects with:
    input:
        heads=paths.EFFECTS,
        draws=paths.EFFECTS_DRAWS,
        fit=paths.EFFECTS_FIT,
        cheapest=paths.CHEAPEST,
    output:
        **figure("results/effects/{model}/{task}", "effects", "effects", "what each head costs"),
    log:
        "logs/plot_effects/{model}/{task}.log",
    benchmark:
        "results/effects/{model}/{task}.figure.benchmark.tsv"
    params:
        **identity("plot_effects"),


rule effects:
    input:
        of_each(rules.plot_effects.output.png, plan.effects),
