"""What follows from a configuration: names of partitions, where models come from, and the types of a condition."""

from collections.abc import Iterable, Mapping

from headtypes.attention.operations import head_of, operation_of
from headtypes.attention.settings import Of
from headtypes.data.kinds.registry import KINDS
from headtypes.planning.config.schema import Config


def clusterings(config: Config, task: str) -> dict[str, tuple[str, int, Of]]:
    """Name of each partition that clustering makes on a task: its method, its k, and what heads are divided by."""
    clustering = config.clustering
    return {
        f"{task}-{'' if of == 'weights' else f'{of}-'}{method}-k{k}": (method, k, of)
        for of in divided_by(config, task)
        for method in clustering.methods
        for k in clustering.k
    }


def divided_by(config: Config, task: str) -> list[Of]:
    """What heads are divided by on a task."""
    return list(dict.fromkeys(config.tasks[task].divided_by or config.clustering.of))


def parent_of(config: Config, model: str) -> str | None:
    """The model that this one was fine-tuned from."""
    finetuned = config.models[model].source.finetuned
    return finetuned.base if finetuned else config.models[model].parent


def family_of(config: Config, model: str) -> str:
    """The family that a model counts to: that of its first ancestor, or the name of this ancestor."""
    parent = parent_of(config, model)
    if parent:
        return family_of(config, parent)
    return config.models[model].family or model


def changes_nothing(condition: Mapping[str, str]) -> bool:
    """Whether a condition keeps all heads."""
    return all(operation_of(operation).change is None for operation in condition.values())


def types_of(condition: Iterable[str]) -> list[str]:
    """The types among the targets of a condition; the others are heads."""
    return [target for target in condition if head_of(target) is None]


def has_features(config: Config, task: str) -> bool:
    """Whether heads have features on a task, by which they are divided into types."""
    return "samples" in KINDS[config.tasks[task].kind].keys


def made_from(config: Config, model: str | None) -> list[str]:
    """The model and those that it is made from, as far as there are any."""
    models: list[str] = []
    while model in config.models and model not in models:
        models.append(model)
        finetuned = config.models[model].source.finetuned
        model = finetuned and finetuned.base
    return models
