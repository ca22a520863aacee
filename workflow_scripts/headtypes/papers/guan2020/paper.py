"""Guan et al., "How Far Does BERT Look At" (COLING 2020): its rules and results, and what of them is shown."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from headtypes.analyses.ablation import analysis as ablation
from headtypes.analyses.types import analysis as types
from headtypes.core.stage import PICTURED, Many, Plan, Result, stage
from headtypes.data.stage import SAMPLES
from headtypes.papers.guan2020.published import Guan2020
from headtypes.papers.paper import (
    Compared,
    Figure,
    Found,
    Paper,
    Tables,
    among,
    if_any,
    paths_by_key,
    shown_partitions,
    shown_texts,
    table_stage,
    to_read_first,
)

_table = partial(table_stage, "guan2020")
_of_clustered = partial(Many, find=lambda plan: plan.clustered)
_of_ablated = partial(Many, find=lambda plan: plan.ablated)


@_table(
    *(_of_clustered("partitions", types.PARTITION), _of_clustered("stabilities", types.STABILITY)),
    _of_clustered("counted", SAMPLES),
    calls="tables:run_types",
)
def tabulate_types(plan: Plan) -> dict:
    rows = [
        {
            "model": partition.model,
            "partition": partition.name,
            "published": plan.config.models[partition.model].published.get("guan2020"),
            "samples_asked": plan.config.tasks[partition.task].samples,
        }
        for partition in plan.clustered
    ]
    return {"rows": rows}


def _with_baselines(plan: Plan) -> list[Any]:
    return [*plan.controlled, *(plan.baseline(*partition.key) for partition in plan.beside_random_heads)]


@_table(
    *(_of_ablated("partitions", types.PARTITION), _of_ablated("intervals", ablation.INTERVALS)),
    Many("metrics", ablation.METRICS, lambda plan: plan.tabulated),
    Many("scores", ablation.SCORES, _with_baselines),
    Many("controls", ablation.CONTROLS, lambda plan: plan.controlled),
    calls="tables:run_ablations",
)
def tabulate_ablations(plan: Plan) -> dict:
    rows = [
        {
            **_row(plan, ablation),
            "questions": _number(plan.config.tasks[ablation.task].questions),
            "control_questions": _number(plan.config.controls.questions),
            "published": plan.config.models[ablation.model].published.get("guan2020"),
        }
        for ablation in plan.tabulated
    ]
    controls = [(*entry.key, plan.baseline(entry.model, entry.partition).name) for entry in plan.controlled]
    return {"rows": rows, "controls": controls}


@_table(
    _of_ablated("partitions", types.PARTITION),
    Many("scores", ablation.SCORES, lambda plan: plan.ablations),
    calls="readings:run",
)
def tabulate_readings(plan: Plan) -> dict:
    return {"rows": [_row(plan, ablation) for ablation in plan.ablations], "readings": plan.readings}


@stage(calls="papers.guan2020.figures:run_partition")
def plot_partition(plan: Plan, model: str, partition: str) -> dict:
    # Named for the rule that once did this: another name would be another seed.
    seed = plan.seed("draw_projection", model, partition)
    return {"features": plan.config.clustering.features(plan.partitions[model, partition].of), "seed": seed}


@stage(calls="papers.guan2020.figures:run_models")
def compare_models(plan: Plan, clustering: str) -> dict:
    names = {(entry.model, entry.task): entry.subject for entry in plan.clustered_by(clustering)}
    parents = {name: names.get((plan.config.parent(model), task)) for (model, task), name in names.items()}
    return {"parents": parents, "models": {name: model for (model, _), name in names.items()}}


def _number(questions: int | str) -> int | None:
    return None if questions == "all" else questions


def _row(plan: Plan, ablation: Any) -> dict:
    return {
        "model": ablation.model,
        "partition": ablation.partition,
        "condition": ablation.name,
        "base": ablation.condition,
        "reading": ablation.reading,
        "operations": plan.operations(ablation.condition),
    }


def clusterings(plan: Plan) -> list[dict[str, str]]:
    return [{"clustering": clustering} for clustering in plan.clusterings]


def _figure_of_partition(number: int, about: str, **how: str) -> Result:
    path = f"results/guan2020/{{model}}/{{partition}}/figure{number}.{{pdf,png}}"
    return to_read_first(path, "plot_partition", about, of=lambda plan: plan.partitions.values(), **how)


_of_models = partial(to_read_first, rule="compare_models", of=clusterings, about="types of models beside one another")
_of_ablations = partial(to_read_first, rule="tabulate_ablations", of=if_any(lambda plan: plan.ablations))
_RESULTS = (
    to_read_first(
        "results/guan2020/table1.{csv,tex,md,html}",
        "tabulate_types",
        about="types and their stability, Table 1 of Guan et al. (2020)",
        of=if_any(lambda plan: plan.clustered),
        content="Table 1: stability and shares of the types; stability over halves of heads, samples and pairs of "
        "both, by agreement of all clusterings and pairwise; `own_cluster`, as in the file of stability; `gaps_p`, "
        "the p-value of heads without gaps between them; how many samples were asked for and taken",
    ),
    _of_ablations(
        "results/guan2020/table{2,3}.{csv,tex,md,html}",
        about="what the model loses under each condition, Tables 2 and 3 of Guan et al. (2020)",
        content="Tables 2 (types left out or made uniform) and 3 (attention within and between sentences taken away): "
        "scores and drops with intervals over questions, and the published values; random heads in Markdown and HTML; "
        "the `tex` files of all tables need booktabs",
    ),
    _of_ablations(
        "results/guan2020/table{2,3}.all.csv",
        about="what the model loses under each condition, with all that is known of random heads",
        content="Tables 2 and 3 with all columns: types next to random heads (`operation_*`: what is done to each "
        "type, and to each head that a condition names; for each score `control_drop_*`, the mean drop of "
        "the draws with the lowest and the highest; `own_drop_*`; `control_overlap`, the share of the drawn heads "
        "that are the condition's own); drops with p-value and "
        "false discovery rate",
    ),
    to_read_first(
        "results/guan2020/readings.{csv,md,html}",
        "tabulate_readings",
        about="conditions under other readings of the paper",
        of=if_any(lambda plan: plan.readings and plan.ablations),
        content="the paper's claims under each reading, if the config has `readings`",
    ),
    _figure_of_partition(
        1,
        "typical heads of each type",
        content="Figure 1: typical heads of each type, and the features of all heads",
        withheld=PICTURED,
    ),
    _figure_of_partition(2, "heads in two dimensions", content="Figure 2: heads in two dimensions, by t-SNE"),
    _figure_of_partition(3, "types by layer", content="Figure 3: types by layer"),
    _of_models(
        "results/guan2020/{clustering}/figure4.csv",
        content="for Figure 4: the heads that keep the parent's cluster, or the name of its type, and the adjusted "
        "Rand index",
    ),
    _of_models(
        "results/guan2020/{clustering}/figure4.{pdf,png}",
        about="types of all models",
        content="Figure 4: types by layer and model",
    ),
    _of_models(
        "results/guan2020/{clustering}/figure4.layers.csv",
        content="for each layer of each model: the number of heads of each type, and the percent of heads that keep "
        "the parent's cluster",
    ),
    _of_models(
        "results/compared/{clustering}/pairs.csv",
        content="[any two models](../understand/method.md#any-two-models), each on one of its tasks: `relation`, "
        "what the `other` is to the model (`parent`, `ancestor`, `same model` or nothing); the percent of "
        "the heads that could keep their type if both had equal shares of the types (`same_shares`), or "
        "equal shares at every depth (`same_layers`); where there is a relation, the percent of the heads of "
        "equal type (`same_type`) and cluster (`same_cluster`), and the adjusted Rand index; the types whose "
        "name is doubtful in either",
    ),
    _of_models(
        "results/compared/{clustering}/types.csv",
        content="for each of these pairs and each type: its `heads` and their `share` in both, the `difference` in "
        "points, the percent of its heads that lie at the same depth (`same_layers`), and the mean `near`, "
        "`special` and `far` of its heads in both",
    ),
    _of_models(
        "results/compared/{clustering}/heads.csv",
        content="for each pair with a relation and each head: its type in both, whether it keeps its cluster, and "
        "whether the names are doubtful",
    ),
    _figure_of_partition(5, "the attention of every head", content="Figure 5: the attention of every head"),
)


def _figure(number: int, name: str, title: str) -> Figure:
    path = f"results/guan2020/{{model}}/{{partition}}/figure{number}.png"
    return Figure(name, path, shown_partitions, f"Figure {number}. {title}", f"figure{number}")


def _shown(path: str, number: str = "1") -> Iterable[Any]:
    from headtypes.papers.comparison import read_named
    from headtypes.papers.guan2020.tables import ablation_shown, stability_shown

    if number == "1":
        return [stability_shown(read_named(path, "partition"))]
    return ablation_shown(read_named(path, "partition", "condition"), int(number))


def _compared(path: str, clustering: str) -> Iterable[Any]:
    from headtypes.comparisons.models import compared_table, read_pairs

    pairs = read_pairs(path)
    return [compared_table(pairs, clustering)] if len(pairs) else []


class _Guan2020(Paper):
    published = Guan2020
    name = "guan2020"
    authors = "Guan et al."
    title = "2020: How Far Does BERT Look At"
    subject = "partition"
    row = "a row of Table 1"
    judged = "partition of every model"
    stages = (tabulate_types, tabulate_ablations, tabulate_readings, plot_partition, compare_models)
    results = _RESULTS
    figures = (
        _figure(1, "heads", "Typical heads of each type"),
        _figure(2, "projection", "Heads in two dimensions"),
        _figure(3, "layers", "Types by layer"),
        Figure(
            "models",
            "results/guan2020/{clustering}/figure4.png",
            clusterings,
            "Figure 4. Types of all models",
            "figure4",
        ),
        _figure(5, "maps", "The attention of every head"),
        Figure(
            "numbers_of_types",
            "results/stability/{model}/{partition}.png",
            among(shown_partitions, lambda plan: plan.clustered),
            "How many types there are, and how stable they are",
            "stability",
        ),
        Figure(
            "controls",
            "results/controls/{model}/{partition}.png",
            among(shown_partitions, lambda plan: plan.beside_random_heads),
            "What types cost, beside random heads",
            "controls",
        ),
        Figure(
            "outputs",
            "results/outputs/{model}/{task}.png",
            shown_texts,
            "What heads write into the residual stream",
            "outputs",
        ),
    )
    tables = (
        Tables("types", "results/guan2020/table1.csv", if_any(lambda plan: plan.clustered), _shown),
        Tables(
            "ablations",
            "results/guan2020/table{number}.all.csv",
            lambda plan: [{"number": number} for number in "23" if plan.ablations],
            _shown,
        ),
        Tables("compared", "results/compared/{clustering}/pairs.csv", clusterings, _compared),
    )

    def inputs(self, plan: Plan) -> dict[tuple[str, ...], str]:
        judged = _judged(plan)
        if not judged:
            return {}
        clustered = [partition for partition in judged.values() if partition in plan.clustered]
        return {
            **paths_by_key("partitions", types.PARTITION, judged.values()),
            **paths_by_key("scores", ablation.SCORES, _answered(plan)),
            **paths_by_key("stabilities", types.STABILITY, clustered),
            **paths_by_key("numbers", types.NUMBERS_OF_TYPES, clustered),
            **({("readings", "readings"): "results/guan2020/readings.csv"} if plan.readings and plan.ablations else {}),
        }

    def spec(self, plan: Plan) -> dict:
        partitions = [
            {
                "model": partition.model,
                "partition": partition.name,
                "method": partition.method,
                "k": partition.k,
                "published": plan.config.models[partition.model].published.get(self.name),
                "parent": plan.config.parent(partition.model),
            }
            for partition in _judged(plan).values()
        ]
        ablations = [_row(plan, ablation) for ablation in _answered(plan)]
        return {"partitions": partitions, "ablations": ablations}

    def finding(self, table: Any, model: str) -> str:
        stable = table[table.index.str.match(r"stability\.\d+\.heads$")]["ours"]
        said = f"All clusterings of halves of the heads of {model} agree on"
        return f"{said} {stable.iloc[0]:.1f} % of the heads." if len(stable) else ""

    def compare(self, found: Found, published: Guan2020, spec: Mapping[str, Any]) -> Compared:
        from headtypes.papers.guan2020.comparison import compare_files

        return compare_files(found, published, **spec)


def _judged(plan: Plan) -> dict[tuple[str, str], Any]:
    return {key: partition for key, partition in plan.partitions.items() if partition.of == "weights"}


def _answered(plan: Plan) -> list[Any]:
    judged = _judged(plan)
    return [ablation for ablation in plan.tabulated if (ablation.model, ablation.partition) in judged]


GUAN2020 = _Guan2020()
