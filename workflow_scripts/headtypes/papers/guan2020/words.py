"""How this paper's quantities and conditions are named.

Quantities of a model under a partition, in percent where nothing else is said:

| name | what |
| --- | --- |
| `{condition}.exact_match`, `{condition}.f1` | scores under the paper's condition of this number |
| `share.{type}` | heads that are of the type |
| `doubtful.{type}` | 1 where the type's name is doubtful; absent otherwise |
| `heads.{layer}.{type}` | number of heads; layers from 0 |
| `stability.{reading}` | heads with equal types in clusterings of random halves, by what is halved and how it agrees |
| `silhouette.{k}` | mean silhouette of k clusters |
| `kept` | heads that have the type that they have in the model's parent |
| `parent.doubtful.{type}` | as `doubtful`, in the parent's partition |
| `n_questions` | questions that the scores are means of |
"""

from collections.abc import Mapping, Sequence

from headtypes.papers.quantities import Quantities

METRICS = {"exact_match": "exact match", "f1": "F1"}


def types_of(quantities: Quantities) -> tuple[str, ...]:
    """The types of the partition."""
    return tuple(quantities.of_kind("share"))


def doubtful_of(quantities: Quantities) -> tuple[str, ...]:
    """The types whose name is doubtful."""
    return tuple(quantities.of_kind("doubtful"))


def name_operations(operations: Mapping[str, str], doubtful: Sequence[str] = ()) -> str:
    """What a condition does, in words, such as "zero dense+vertical"; doubtful types in brackets."""
    types: dict[str, list[str]] = {}
    for name, operation in operations.items():
        types.setdefault(operation, []).append(bracket(name, doubtful))
    return ", ".join(f"{operation} {'+'.join(names)}" for operation, names in types.items()) or "baseline"


def bracket(name: str, doubtful: Sequence[str]) -> str:
    """A type's name, in brackets where it is doubtful."""
    return f"[{name}]" if name in doubtful else name
