"""Types of attention heads: distance features, clustering, stability and ablation (rooms: docs/extend/map.md)."""

from typing import Any

__all__ = ["HeadAnalysis", "ablated", "attention_map", "detect_heads", "head_types", "read_heads", "show"]


def __getattr__(name: str) -> Any:
    # Imported only now: jobs and plans do not need it.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "HeadAnalysis":
        # What an analysis of the user's needs is all that its job loads.
        from headtypes.analyses.own.measure import HeadAnalysis

        return HeadAnalysis
    from headtypes.api import ablation, reading

    return getattr(ablation if name == "ablated" else reading, name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
