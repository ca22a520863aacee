# The paper's figures.


rule map_attention:
    input:
        model=rules.fetch_model.output.model,
        samples=rules.draw_samples.output.samples,
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


rule draw_heads:
    input:
        maps=of_task(rules.map_attention.output.maps),
        features=of_task(rules.extract_features.output.features),
        partition="results/partitions/{model}/{partition}.csv",
    output:
        pdf="results/figures/{model}/{partition}/figure1.pdf",
        png=report(
            "results/figures/{model}/{partition}/figure1.png",
            caption="../report/figure1.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "1", "partition": "{partition}", "content": "typical heads"},
        ),
    log:
        "logs/draw_heads/{model}/{partition}.log",
    benchmark:
        "results/figures/{model}/{partition}/figure1.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("draw_heads"),
    params:
        spec=spec("draw_heads"),
        code=code("draw_heads"),
    script:
        "../workflow_scripts/draw_heads.py"


rule draw_projection:
    input:
        features=of_task(rules.extract_features.output.features),
        partition="results/partitions/{model}/{partition}.csv",
    output:
        pdf="results/figures/{model}/{partition}/figure2.pdf",
        png=report(
            "results/figures/{model}/{partition}/figure2.png",
            caption="../report/figure2.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "2", "partition": "{partition}", "content": "heads in the plane"},
        ),
    log:
        "logs/draw_projection/{model}/{partition}.log",
    benchmark:
        "results/figures/{model}/{partition}/figure2.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("draw_projection"),
    params:
        spec=spec("draw_projection"),
        code=code("draw_projection"),
    script:
        "../workflow_scripts/draw_projection.py"


rule draw_layers:
    input:
        partition="results/partitions/{model}/{partition}.csv",
    output:
        pdf="results/figures/{model}/{partition}/figure3.pdf",
        png=report(
            "results/figures/{model}/{partition}/figure3.png",
            caption="../report/figure3.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "3", "partition": "{partition}", "content": "types by layer"},
        ),
    log:
        "logs/draw_layers/{model}/{partition}.log",
    benchmark:
        "results/figures/{model}/{partition}/figure3.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("draw_layers"),
    params:
        spec=spec("draw_layers"),
        code=code("draw_layers"),
    script:
        "../workflow_scripts/draw_layers.py"


rule draw_models:
    input:
        partitions=lambda wildcards: [
            f"results/partitions/{each.model}/{each.name}.csv" for each in plan.clustered_by(wildcards.clustering)
        ],
    output:
        csv="results/figures/{clustering}/figure4.csv",
        pdf="results/figures/{clustering}/figure4.pdf",
        png=report(
            "results/figures/{clustering}/figure4.png",
            caption="../report/figure4.rst",
            category="Figures",
            subcategory="all models",
            labels={"figure": "4", "partition": "{clustering}", "content": "types by model"},
        ),
    log:
        "logs/draw_models/{clustering}.log",
    benchmark:
        "results/figures/{clustering}/figure4.benchmark.tsv"
    wildcard_constraints:
        clustering=any_of(plan.clusterings),
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("draw_models"),
    params:
        spec=spec("draw_models"),
        code=code("draw_models"),
    script:
        "../workflow_scripts/draw_models.py"


rule draw_atlas:
    input:
        maps=of_task(rules.map_attention.output.maps),
        partition="results/partitions/{model}/{partition}.csv",
    output:
        pdf="results/figures/{model}/{partition}/figure5.pdf",
        png=report(
            "results/figures/{model}/{partition}/figure5.png",
            caption="../report/figure5.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "5", "partition": "{partition}", "content": "every head"},
        ),
    log:
        "logs/draw_atlas/{model}/{partition}.log",
    benchmark:
        "results/figures/{model}/{partition}/figure5.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("draw_atlas"),
    params:
        spec=spec("draw_atlas"),
        code=code("draw_atlas"),
    script:
        "../workflow_scripts/draw_atlas.py"


rule draw_choice:
    input:
        ways=rules.choose_clustering.output.ways,
        agreement=rules.choose_clustering.output.agreement,
        best=rules.choose_clustering.output.best,
    output:
        pdf="results/figures/{model}/{task}.choice.pdf",
        png=report(
            "results/figures/{model}/{task}.choice.png",
            caption="../report/choice.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "choice", "partition": "{task}", "content": "how many types, by which method"},
        ),
    log:
        "logs/draw_choice/{model}/{task}.log",
    benchmark:
        "results/figures/{model}/{task}.choice.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("draw_choice"),
    params:
        spec=spec("draw_choice"),
        code=code("draw_choice"),
    script:
        "../workflow_scripts/draw_choice.py"


rule draw_curves:
    input:
        curves=rules.evaluate_curves.output.curves,
        partition="results/partitions/{model}/{partition}.csv",
    output:
        pdf="results/figures/{model}/{partition}/curves.pdf",
        png=report(
            "results/figures/{model}/{partition}/curves.png",
            caption="../report/curves.rst",
            category="Figures",
            subcategory="{model}",
            labels={"figure": "curves", "partition": "{partition}", "content": "heads removed in growing sets"},
        ),
    log:
        "logs/draw_curves/{model}/{partition}.log",
    benchmark:
        "results/figures/{model}/{partition}/curves.benchmark.tsv"
    conda:
        "../envs/headtypes.yaml"
    resources:
        **needs("draw_curves"),
    params:
        spec=spec("draw_curves"),
        code=code("draw_curves"),
    script:
        "../workflow_scripts/draw_curves.py"


rule figures:
    input:
        [
            f"results/figures/{each.model}/{each.name}/figure{number}.png"
            for each in plan.partitions.values()
            for number in (1, 2, 3, 5)
        ],
        [f"results/figures/{clustering}/figure4.png" for clustering in plan.clusterings],
        [f"results/figures/{each.model}/{each.name}/curves.png" for each in plan.curved],
        [f"results/figures/{model}/{task}.choice.png" for model, task in plan.features],
