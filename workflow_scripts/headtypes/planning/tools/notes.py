"""What a user should know of a plan before it runs, although nothing is wrong with it."""

from headtypes.analyses.types.names import TYPES
from headtypes.planning.config.derived import types_of
from headtypes.planning.config.files import LaidOver
from headtypes.planning.config.schema import Config
from headtypes.planning.plan import Plan


def notes_on(plan: Plan, layers: LaidOver) -> list[str]:
    """A sentence for each thing, in the order of importance; usually none."""
    return [note for note in (_left_out(plan), _beside_the_demo(plan, layers), _of_the_demo(plan, layers)) if note]


def _left_out(plan: Plan) -> str | None:
    """Conditions that name types of four clusters where there are more or fewer."""
    if not plan.left_out_conditions:
        return None
    named = {type_ for name in plan.left_out_conditions for type_ in types_of(plan.config.conditions[name])}
    number = len(plan.left_out_conditions)
    return (
        f"{number} condition{'s name' if number > 1 else ' names'} types that only k = {len(TYPES)} gives "
        f"({', '.join(type_ for type_ in TYPES if type_ in named)}) and {'are' if number > 1 else 'is'} left out: "
        f"{', '.join(plan.left_out_conditions)}. The types of another k are type-1, type-2, and so on."
    )


def _beside_the_demo(plan: Plan, layers: LaidOver) -> str | None:
    """Models of the lowest file, which holds the demo, that run beside those of an experiment laid over it."""
    demo = _models_of_the_demo(plan, layers)
    if not demo or len(demo) == len(plan.models) or plan.config.select.models is not None:
        return None
    return (
        f"{', '.join(demo)}: models of config.yaml, the demo, which run beside those of yours. Name yours in "
        "select.models, or lay your file over experiments/without_demo.yaml, if that is not what you want."
    )


def _of_the_demo(plan: Plan, layers: LaidOver) -> str | None:
    """Small numbers of the lowest file, which holds the demo, in an experiment with none of the demo's models."""
    if _models_of_the_demo(plan, layers):
        return None
    small = [
        f"{section}.{key}: {value}"
        for section, used in (("controls", plan.controlled), ("curves", plan.curved))
        for key, value in getattr(plan.config, section)
        if used and f"{section}.{key}" in layers.lowest and value != getattr(Config.model_fields[section].default, key)
    ]
    if not small:
        return None
    return (
        f"{', '.join(small)}: as in config.yaml, where this keeps the demo short. Set them in a file of yours, or lay "
        "that over experiments/without_demo.yaml, which leaves them their defaults."
    )


def _models_of_the_demo(plan: Plan, layers: LaidOver) -> list[str]:
    return [model for model in plan.models if any(key.startswith(f"models.{model}.") for key in layers.lowest)]
