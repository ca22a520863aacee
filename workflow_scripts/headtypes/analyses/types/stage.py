"""Types of heads."""

from headtypes.analyses.stage import Plan, of_inputs_alone, stage


@stage()
def cluster_heads(plan: Plan, model: str, partition: str) -> dict:
    """The method and its settings."""
    entry, clustering = plan.partitions[model, partition], plan.config.clustering
    return {
        "method": entry.method,
        "k": entry.k,
        "features": clustering.features(entry.of),
        "scale": clustering.scale,
        "restarts": clustering.restarts,
        "seed": plan.seed("cluster_heads", model, partition),
    }


@stage()
def import_partition(plan: Plan, model: str, partition: str) -> dict:
    """The resolution in which the types are described."""
    return plan.config.clustering.features()


@stage()
def measure_stability(plan: Plan, model: str, partition: str) -> dict:
    """The clustering whose stability is measured, and by how many models."""
    seed = plan.seed("measure_stability", model, partition)
    return {**cluster_heads(plan, model, partition), "models": plan.config.stability.models, "seed": seed}


@stage()
def measure_confidence(plan: Plan, model: str, partition: str) -> dict:
    """The clustering whose types are drawn again."""
    return {**cluster_heads(plan, model, partition), "seed": plan.seed("measure_confidence", model, partition)}


plot_confidence = of_inputs_alone("plot_confidence")


@stage()
def choose_clustering(plan: Plan, model: str, task: str) -> dict:
    """The settings that all methods and numbers of clusters share."""
    clustering = plan.config.clustering
    return {
        **clustering.features(plan.choices[model, task].of),
        "scale": clustering.scale,
        "restarts": clustering.restarts,
        "models": plan.config.stability.models,
        "seed": plan.seed("choose_clustering", model, task),
    }


@stage()
def plot_choice(plan: Plan, model: str, task: str) -> dict:
    """The resolution that gap and stability are about."""
    return {"distance_bins": plan.config.clustering.distance_bins}
