"""Results on disk, from which types are joined with analyses."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from headtypes.analyses.ablation.importance_files import read_importance
from headtypes.analyses.detectors.results import read_detector_table
from headtypes.analyses.divergence.results import read_divergence
from headtypes.analyses.gradients.results import read_gradients
from headtypes.analyses.probes.type_scores import read_type_probes, score_type_probes
from headtypes.analyses.surface.results import read_surface
from headtypes.analyses.types.partitions import Partition
from headtypes.comparisons.types import measures
from headtypes.comparisons.types.measures import Measure
from headtypes.comparisons.types.table import LeftOut, join_types
from headtypes.core.seeds import derive_seed
from headtypes.core.table_files import read_csv, read_parquet

Files = Mapping[str, str | Path]
# What a file of accuracies must have.
_RELATIONS = ("annotation", "relation", "part", "layer", "head", "accuracy")
_COREFERENCE = ("system", "candidates", "type", "layer", "head", "accuracy")


def join_results(
    partition: Partition,
    *,
    surfaces: Files,
    gradients: Files,
    divergences: Files,
    relations: Files,
    coreference: Files,
    importance: Files,
    probes: Files,
    left_out: Sequence[tuple[Mapping[str, str], str | Path, str | Path, str | Path]],
    detectors: Files | None = None,
    seed: int,
) -> pd.DataFrame:
    """Call `join_types` with what files hold, each by its task.

    relations, coreference: tables of accuracies. probes: those of the partition's types.
    left_out: type, operation and task of each condition, and the files of scores with random heads, with the type's
        own, and of the baseline.
    detectors: tables of heads by detector, on random tokens.
    Raises `InputError` that names a damaged file.
    """
    types = {name: (partition.type_of == name).ravel() for name in partition.types}
    common: list[Measure] = []
    of_type: dict[str, list[Measure]] = {name: [] for name in types}
    for task, path in surfaces.items():
        common += measures.of_surface(task, read_surface(path), derive_seed(seed, "surface", task))
    for task, path in gradients.items():
        common += measures.of_gradients(task, read_gradients(path))
    for task, path in divergences.items():
        for about, measure in measures.of_divergence(task, read_divergence(path), types):
            (common if about is None else of_type[about]).append(measure)
    for task, path in relations.items():
        common += measures.of_relations(task, read_csv(path, "holds no accuracies of heads", _RELATIONS))
    for task, path in coreference.items():
        common += measures.of_coreference(task, read_csv(path, "holds no accuracies of heads", _COREFERENCE))
    for task, path in importance.items():
        common += measures.of_importance(task, read_importance(path))
    for task, path in (detectors or {}).items():
        common += measures.of_detectors(task, read_detector_table(path))
    of_probes = {
        task: score_type_probes(read_type_probes(path), seed=derive_seed(seed, "probes", task))
        for task, path in probes.items()
    }
    return join_types(partition, common, of_type, list(_read_costs(left_out)), of_probes, seed=seed)


def _read_costs(left_out: Sequence[tuple]) -> Iterator[LeftOut]:
    for names, *paths in left_out:
        controls, scores, baseline = (read_parquet(path, "holds no scores", ["id"]) for path in paths)
        yield LeftOut(**names, controls=controls, scores=scores, baseline=baseline)
