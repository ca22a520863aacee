# What comes out of heads: how much each writes into the residual stream, and massive activations of the stream.


use rule job_on_samples as measure_outputs with:
    output:
        outputs=paths.OUTPUTS,
    log:
        "logs/measure_outputs/{model}/{task}.log",
    benchmark:
        "results/outputs/{model}/{task}.benchmark.tsv"
    params:
        **identity("measure_outputs"),


use rule job as tabulate_outputs with:
    input:
        outputs=paths.OUTPUTS,
    output:
        heads=paths.OUTPUTS_HEADS,
        layers=paths.OUTPUTS_LAYERS,
    log:
        "logs/tabulate_outputs/{model}/{task}.log",
    benchmark:
        "results/outputs/{model}/{task}.tables.benchmark.tsv"
    params:
        **identity("tabulate_outputs"),


use rule job as plot_outputs with:
    input:
        heads=paths.OUTPUTS_HEADS,
        layers=paths.OUTPUTS_LAYERS,
    output:
        **figure("results/outputs/{model}/{task}", "outputs", "outputs", "what heads write"),
    log:
        "logs/plot_outputs/{model}/{task}.log",
    benchmark:
        "results/outputs/{model}/{task}.figure.benchmark.tsv"
    params:
        **identity("plot_outputs"),


rule outputs:
    input:
        of_each(rules.plot_outputs.output.png, plan.texts),
