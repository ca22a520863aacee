"""Types of heads."""

from headtypes.core.stage import Plan, stage


@stage()
def cluster_heads(plan: Plan, model: str, partition: str) -> dict:
    """The method and its settings; the seeds of its stability and of the number of types."""
    entry, clustering = plan.partitions[model, partition], plan.config.clustering
    # Named for the rules and the results that once were: another name would be another seed.
    features = entry.task if entry.of == "weights" else f"{entry.task}-{entry.of}"
    return {
        "method": entry.method,
        "k": entry.k,
        "features": clustering.features(entry.of),
        "scale": clustering.scale,
        "restarts": clustering.restarts,
        "seed": plan.seed("cluster_heads", model, partition),
        "stability": {
            "seed": plan.seed("measure_stability", model, partition),
            "numbers_seed": plan.seed("choose_clustering", model, features),
        },
    }


@stage()
def import_partition(plan: Plan, model: str, partition: str) -> dict:
    """The resolution in which the types are described."""
    return plan.config.clustering.features()
