"""The spec of every job, by the plan alone."""

from headtypes.core.files import canonical_json
from headtypes.planning.config.schema import read_config
from headtypes.planning.plan import Plan
from headtypes.planning.stages.registry import STAGES


def all_specs(raw: dict) -> dict[tuple, str]:
    """The spec of every job of a configuration in which nothing is idle: (rule, its wildcards) -> canonical JSON."""
    plan = Plan(read_config(raw))
    made = [plan.finetuned(model) for model in plan.models if plan.finetuned(model)]
    answered = [*plan.ablations, *(each for each in plan.gradients if not plan.is_text(each.task))]
    jobs = [
        *(("fetch_model", model) for model in plan.models),
        *(("fetch_task", task) for task in plan.tasks),
        *(("sample_inputs", task) for task in dict.fromkeys(each.task for each in plan.features)),
        *((rule, task) for task in plan.tasks_of("treebank") for rule in ("fetch_test", "measure_offsets")),
        *(("fetch_training", each.task) for each in [*made, *plan.probed]),
        *((rule, *each) for each in plan.inputs_of("treebank") for rule in ("extract_arcs", "measure_relations")),
        *((rule, *each) for each in plan.probed for rule in ("train_probes", "measure_probes")),
        *(("probe_types", *each) for each in plan.probed_types),
        *(
            (rule, *each)
            for each in plan.inputs_of("coreference")
            for rule in ("extract_antecedents", "measure_coreference")
        ),
        *(
            (rule, *each)
            for each in plan.inputs_of("treebank") + plan.inputs_of("coreference")
            for rule in ("map_sentences", "plot_sentences")
        ),
        *(("finetune_model", model) for model in plan.models if plan.finetuned(model)),
        *(
            (rule, *each)
            for each in plan.features
            for rule in ("extract_features", "map_attention", "choose_clustering", "plot_choice")
        ),
        *((rule, *each) for each in plan.texts for rule in ("measure_surface", "measure_divergence", "project_heads")),
        *(("map_examples", *each) for each in plan.texts),
        *((f"plot_{what}", *each) for each in plan.texts for what in ("examples", "surface", "plane")),
        *((rule, *each) for each in plan.gradients for rule in ("measure_gradients", "plot_gradients")),
        *(("sample_questions", each.task) for each in answered),
        *(("prepare_windows", each.model, each.task) for each in answered),
        *(
            ("measure_head_outputs", each.model, each.task)
            for each in plan.ablations
            if plan.needs_head_outputs(each.condition)
        ),
        *(("import_partition" if each.file else "cluster_heads", *name) for name, each in plan.partitions.items()),
        *(
            (f"measure_{what}", *name)
            for name, each in plan.partitions.items()
            if each.method
            for what in ("stability", "confidence")
        ),
        *(("evaluate_condition", each.model, each.partition, each.name) for each in plan.ablations),
        *(("measure_intervals", each.model, each.name) for each in plan.ablated),
        *(("evaluate_controls", each.model, each.partition, each.name) for each in plan.controlled),
        *(("plot_controls", each.model, each.name) for each in plan.beside_random_heads),
        *(("plot_confidence", *name) for name, each in plan.partitions.items() if each.method),
        *(("measure_importance", each.model, each.task) for each in plan.curved),
        *((rule, each.model, each.name) for each in plan.curved for rule in ("evaluate_curves", "plot_curves")),
        *((rule, *name) for name in plan.partitions for rule in ("embed_heads", "export_heads")),
        *((rule, each.model) for each in plan.detected for rule in ("measure_detectors", "tabulate_detectors")),
        *(("measure_reach", *each) for each in dict.fromkeys((each.model, each.task) for each in plan.cached)),
        *(("export_full_attention", each.model, each.name) for each in plan.cached),
        *((f"plot_{what}", *name) for name in plan.partitions for what in ("heads", "projection", "layers", "maps")),
        *((rule, clustering) for clustering in plan.clusterings for rule in ("tabulate_models", "plot_models")),
        *((rule, each.model, each.name) for each in plan.joined for rule in ("join_types", "plot_joined")),
        *(("write_atlas", model) for model in dict.fromkeys(each.model for each in plan.features)),
        ("tabulate_stability",),
        ("tabulate_ablations",),
        ("tabulate_readings",),
        ("compare_with_guan",),
        ("compare_with_clark",),
        ("write_summary",),
        *([("tabulate_relations",)] if plan.inputs_of("treebank") else []),
        *([("tabulate_coreference",)] if plan.inputs_of("coreference") else []),
        *([("tabulate_probes",)] if plan.probed else []),
    ]
    return {job: canonical_json(STAGES[job[0]](plan, *job[1:])) for job in jobs}
