"""Types of attention heads: distance features, clustering, stability and ablation.

The rooms, listed so that each imports only from itself and from earlier entries:

core         errors, files, tables on disk, seeds, progress, statistics, style of figures
models       the Hub, finding and loading models, supported architectures, GPUs
data         kinds of task, samples and questions, encoding them, what is answered
training     fine-tuning a model on a task
attention    the hook into Transformers, batches, the pass with its reducers, operations on heads, gradients
analyses     what is measured on heads, a folder for each analysis
comparisons  types beside random heads in every analysis; models beside models
papers       claims, tables and figures, a folder for each paper
pages        the pages that a reader opens: the summary of all results, the ledger of claims, each model's atlas
planning     what rules and commands need: config, plan, stages, digest, provenance, resources, locks
api          what to call from one's own Python, on a model that is already loaded
"""

from typing import Any

__all__ = ["HeadAnalysis", "ablated", "attention_map", "detect_heads", "head_types", "read_heads", "show"]


def __getattr__(name: str) -> Any:
    """Return the function or class of this name, which is imported only now: jobs and plans do not need it."""
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
