"""How this paper's quantities and conditions are named.

Quantities of a model under a partition, in percent where nothing else is said:

| name | what |
| --- | --- |
| `{condition}.exact_match`, `{condition}.f1` | scores under the paper's condition of this number |
| `share.{type}` | heads that are of the type |
| `doubtful.{type}` | 1 where the type's name is doubtful; absent otherwise |
| `heads.{layer}.{type}` | number of heads; layers from 0 |
| `special.{type}` | attention of the type's heads to special tokens, their mean |
| `stability.{k}.{halves}` | heads (or pairs of a head and a sample) on which all clusterings of random halves agree |
| `own_cluster` | pairs of a head and a sample that are nearest to the head's cluster |
| `mixture_agreement` | adjusted Rand index of the clusters of k-means and of a Gaussian mixture, 1 for equal ones |
| `kept` | heads in the cluster in which they are in the model's parent, clusters matched by their heads |
| `changed.{layer}` | heads of the layer that are in another one; layers from 0 |
| `family.{model}.heads...`, `family.{model}.doubtful...` | as above, of the models of the paper's Table 1 |
| `n_questions` | questions that the scores are means of |

Quantities of the family are those of other models of the run, and known for the model that stands beside `MAIN_MODEL`.
"""

from collections.abc import Mapping, Sequence

from headtypes.papers.quantities import Quantities

METRICS = {"exact_match": "exact match", "f1": "F1"}

# What is halved to measure stability. The paper's agreement is that of all models, but it may be of any of these.
HALVES = ("heads", "samples", "pairs")
# The model of the paper's Figures 1 to 3, with which it compares the others.
MAIN_MODEL = "squad"


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
