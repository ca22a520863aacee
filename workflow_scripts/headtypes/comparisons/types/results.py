"""Results on disk, from which types are compared with random heads."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from headtypes.analyses.ablation.control_drops import of_family
from headtypes.analyses.registry import ANALYSES
from headtypes.analyses.types.partitions import Partition
from headtypes.comparisons.types.table import LeftOut, compare_types
from headtypes.core.files import StrPath
from headtypes.core.seeds import derive_seed
from headtypes.core.table_files import read_parquet


def compare_files(
    partition: Partition,
    files: Mapping[str, Mapping[str, StrPath]],
    *,
    left_out: Sequence[tuple[Mapping[str, str], StrPath, StrPath, StrPath]] = (),
    seed: int,
) -> pd.DataFrame:
    """Call `compare_types` with what files hold.

    files: of each analysis that there is, by its task.
    left_out: type, operation and task of each condition, and the files of scores with random heads, with the type's
        own, and of the baseline.
    Raises `InputError` that names a damaged file.
    """
    types = {name: (partition.type_of == name).ravel() for name in partition.types}
    measures = []
    for analysis in ANALYSES:
        for task, path in files.get(analysis.name, {}).items():
            own = derive_seed(seed, analysis.name, task)
            if analysis.per_set:
                measures += analysis.per_set(task, path, types, own)
    return compare_types(partition, measures, list(_read_costs(left_out)), seed=seed)


def _read_costs(left_out: Sequence[tuple]) -> Iterator[LeftOut]:
    for names, *paths in left_out:
        controls, scores, baseline = (read_parquet(path, "holds no scores", ["id"]) for path in paths)
        yield LeftOut(**names, controls=of_family(controls), scores=scores, baseline=baseline)
