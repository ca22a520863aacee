"""Results on disk, compared with the paper."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from headtypes.papers.clark2019.comparison import compare_with_clark, comparison_page
from headtypes.papers.clark2019.language.results import collect_coreference, collect_treebanks
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.clark2019.quantities import collect_all
from headtypes.papers.comparison import tidy_table
from headtypes.papers.keys import TASK_KEYS
from headtypes.papers.paper import Compared, Found


def compare_files(
    found: Found,
    published: Clark2019,
    *,
    beside: Collection[str],
    relations: Mapping[str, Any],
    seed: int,
    repeats: Mapping[str, Sequence[str]],
) -> Compared:
    """Set the files that `paper.CLARK2019` names beside what was published, and judge its claims.

    relations: how accuracies are measured; beside: models beside which the published values stand;
    repeats: as in `papers.comparison.comparison_table`.
    """
    quantities = collect_all(found["surfaces"], found["gradients"], found["fits"], published, seed=seed)
    trees = found["arcs"], found["sentences"], found["tests"], found["probes"]
    quantities |= collect_treebanks(*trees, published, **relations, seed=seed)
    quantities |= collect_coreference(found["antecedents"], found["documents"], published, seed=seed)
    table = compare_with_clark(quantities, beside, published, repeats)
    return Compared(tidy_table(quantities, TASK_KEYS), table, comparison_page(table, published))
