# The paper's figures.


rule map_attention:
    input:
        model=rules.fetch_model.output.model,
        samples=rules.sample_inputs.output.samples,
    output:
        maps="results/maps/{model}/{task}.h5",
    log:
        "logs/map_attention/{model}/{task}.log",
    benchmark:
        "results/maps/{model}/{task}.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("map_attention"),
    params:
        spec=spec("map_attention"),
        code=code("map_attention"),
    script:
        "../workflow_scripts/map_attention.py"


rule plot_heads:
    input:
        maps=of_task(rules.map_attention.output.maps),
        features=of_task(rules.extract_features.output.features),
        partition="results/partitions/{model}/{partition}.csv",
    output:
        pdf="results/guan2020/{model}/{partition}/figure1.pdf",
        png=report(
            "results/guan2020/{model}/{partition}/figure1.png",
            caption="../report/figure1.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "1", "partition": "{partition}", "content": "typical heads"},
        ),
    log:
        "logs/plot_heads/{model}/{partition}.log",
    benchmark:
        "results/guan2020/{model}/{partition}/figure1.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_heads"),
    params:
        spec=spec("plot_heads"),
        code=code("plot_heads"),
    script:
        "../workflow_scripts/plot_heads.py"


rule plot_projection:
    input:
        features=of_task(rules.extract_features.output.features),
        partition="results/partitions/{model}/{partition}.csv",
    output:
        pdf="results/guan2020/{model}/{partition}/figure2.pdf",
        png=report(
            "results/guan2020/{model}/{partition}/figure2.png",
            caption="../report/figure2.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "2", "partition": "{partition}", "content": "heads in the plane"},
        ),
    log:
        "logs/plot_projection/{model}/{partition}.log",
    benchmark:
        "results/guan2020/{model}/{partition}/figure2.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_projection"),
    params:
        spec=spec("plot_projection"),
        code=code("plot_projection"),
    script:
        "../workflow_scripts/plot_projection.py"


rule plot_layers:
    input:
        partition="results/partitions/{model}/{partition}.csv",
    output:
        pdf="results/guan2020/{model}/{partition}/figure3.pdf",
        png=report(
            "results/guan2020/{model}/{partition}/figure3.png",
            caption="../report/figure3.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "3", "partition": "{partition}", "content": "types by layer"},
        ),
    log:
        "logs/plot_layers/{model}/{partition}.log",
    benchmark:
        "results/guan2020/{model}/{partition}/figure3.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_layers"),
    params:
        spec=spec("plot_layers"),
        code=code("plot_layers"),
    script:
        "../workflow_scripts/plot_layers.py"


rule plot_models:
    input:
        partitions=lambda wildcards: [
            f"results/partitions/{each.model}/{each.name}.csv" for each in plan.clustered_by(wildcards.clustering)
        ],
    output:
        csv="results/guan2020/{clustering}/figure4.csv",
        pdf="results/guan2020/{clustering}/figure4.pdf",
        png=report(
            "results/guan2020/{clustering}/figure4.png",
            caption="../report/figure4.rst",
            category="Figures",
            subcategory="all models",
            labels={"figure": "4", "partition": "{clustering}", "content": "types by model"},
        ),
    log:
        "logs/plot_models/{clustering}.log",
    benchmark:
        "results/guan2020/{clustering}/figure4.benchmark.tsv"
    wildcard_constraints:
        clustering=any_of(plan.clusterings),
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_models"),
    params:
        spec=spec("plot_models"),
        code=code("plot_models"),
    script:
        "../workflow_scripts/plot_models.py"


rule plot_maps:
    input:
        maps=of_task(rules.map_attention.output.maps),
        partition="results/partitions/{model}/{partition}.csv",
    output:
        pdf="results/guan2020/{model}/{partition}/figure5.pdf",
        png=report(
            "results/guan2020/{model}/{partition}/figure5.png",
            caption="../report/figure5.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "5", "partition": "{partition}", "content": "every head"},
        ),
    log:
        "logs/plot_maps/{model}/{partition}.log",
    benchmark:
        "results/guan2020/{model}/{partition}/figure5.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_maps"),
    params:
        spec=spec("plot_maps"),
        code=code("plot_maps"),
    script:
        "../workflow_scripts/plot_maps.py"


rule plot_choice:
    input:
        ways=rules.choose_clustering.output.ways,
        agreement=rules.choose_clustering.output.agreement,
        best=rules.choose_clustering.output.best,
    output:
        pdf="results/choice/{model}/{task}.pdf",
        png=report(
            "results/choice/{model}/{task}.png",
            caption="../report/choice.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "choice", "partition": "{task}", "content": "how many types, by which method"},
        ),
    log:
        "logs/plot_choice/{model}/{task}.log",
    benchmark:
        "results/choice/{model}/{task}.figure.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_choice"),
    params:
        spec=spec("plot_choice"),
        code=code("plot_choice"),
    script:
        "../workflow_scripts/plot_choice.py"


rule plot_curves:
    input:
        curves=rules.evaluate_curves.output.curves,
        partition="results/partitions/{model}/{partition}.csv",
    output:
        pdf="results/curves/{model}/{partition}.pdf",
        png=report(
            "results/curves/{model}/{partition}.png",
            caption="../report/curves.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "curves", "partition": "{partition}", "content": "heads removed in growing sets"},
        ),
    log:
        "logs/plot_curves/{model}/{partition}.log",
    benchmark:
        "results/curves/{model}/{partition}.figure.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("plot_curves"),
    params:
        spec=spec("plot_curves"),
        code=code("plot_curves"),
    script:
        "../workflow_scripts/plot_curves.py"


rule figures:
    input:
        [
            f"results/guan2020/{each.model}/{each.name}/figure{number}.png"
            for each in plan.partitions.values()
            for number in (1, 2, 3, 5)
        ],
        [f"results/guan2020/{clustering}/figure4.png" for clustering in plan.clusterings],
        [f"results/curves/{each.model}/{each.name}.png" for each in plan.curved],
        [f"results/choice/{model}/{task}.png" for model, task in plan.features],
