"""Results on disk, read in the shapes that the comparison with the paper takes."""

import math
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from headtypes.analyses.ablation.control_drops import control_drops, drops_over_seeds, read_scored
from headtypes.analyses.ablation.intervals import weighted_sums
from headtypes.analyses.ablation.results import read_scores
from headtypes.analyses.types.partitions import Partition, read_partition
from headtypes.core.files import StrPath, read_each, read_json, undamaged
from headtypes.core.table_files import read_csv
from headtypes.papers.comparison import tidy_table
from headtypes.papers.guan2020.comparison import compare_with_guan, comparison_page
from headtypes.papers.guan2020.published import HALVES, MAIN_MODEL, Guan2020
from headtypes.papers.guan2020.quantities import collect_quantities, published_stability
from headtypes.papers.guan2020.readings import under_every_reading
from headtypes.papers.keys import NAMED, PARTITION_KEYS, Key
from headtypes.papers.paper import Compared, Found


def compare_files(
    found: Found, published: Guan2020, *, partitions: Sequence[dict], seed: int, repeats: Mapping[str, Sequence[str]]
) -> Compared:
    """Set the files that `paper.GUAN2020` names beside what was published, and judge its claims.

    partitions: what each is, as `read_stabilities`, `parents_of` and `families_of` take it; repeats: as in
        `comparison.comparison_table`.
    """
    read = read_each(read_partition, found["partitions"])
    stabilities = read_tables(found["stability"].values())
    quantities = collect_quantities(
        read,
        read_tables(found["ablations"].values()),
        stabilities,
        published,
        intervals=read_intervals_of(found["scores"], seed),
        choices=read_stabilities(partitions, found["stabilities"], found["numbers"]),
        parents=parents_of(partitions, read),
        families=families_of(partitions, read),
    )
    table = compare_with_guan(quantities, published_stability(stabilities, list(read)), published, repeats)
    for path in found["readings"].values():
        columns = ["model", "partition", "id", "reading", "verdict"]
        table = under_every_reading(table, read_csv(path, "does not say what readings decide", columns, rows=0))
    return Compared(tidy_table(quantities, PARTITION_KEYS), table, comparison_page(table, published))


def read_tables(paths: Iterable[StrPath]) -> pd.DataFrame | None:
    """Tables of ours with the same columns, one below the other; None where there is none."""
    read = [read_csv(path, "is not a table of this workflow", ["model"], rows=0, **NAMED) for path in paths]
    return pd.concat(read, ignore_index=True) if read else None


def read_intervals_of(scores: Mapping[tuple[str, str, str], StrPath], seed: int) -> dict[Key, object]:
    """The intervals of weighted sums of every partition that is evaluated: `intervals.weighted_sums`.

    scores: the file of the scores of each question, by model, partition and condition.
    """
    by_partition: dict[Key, dict[str, StrPath]] = {}
    for (model, partition, condition), path in scores.items():
        by_partition.setdefault((model, partition), {})[condition] = path
    return {
        key: weighted_sums(dict(zip(files, read_scores(list(files.values())), strict=True)), seed=seed)
        for key, files in by_partition.items()
    }


def read_controls(
    files: Mapping[tuple[str, str, str], Sequence[StrPath]], repeats: Iterable[Sequence[str]], *, seed: int
) -> dict[tuple[str, str, str], dict[str, float | int]]:
    """What conditions cost beside random heads, `control_drops`, and over models that differ in a seed alone.

    files: of the scores with random heads, with the condition's own and of the baseline, by model, partition and
        condition; repeats: the models of each group of these; seed: of the intervals.
    """
    controls = {key: control_drops(*read_scored(*each), seed=seed) for key, each in files.items()}
    for models in repeats:
        for of in dict.fromkeys(key[1:] for key in files if key[0] in models):
            several = [key for model in models if (key := (model, *of)) in files]
            together = drops_over_seeds([read_scored(*files[key]) for key in several], seed=seed)
            controls |= {key: controls[key] | together for key in several}
    return controls


def read_stabilities(
    partitions: Iterable[dict], stabilities: Mapping[Key, StrPath], numbers: Mapping[Key, StrPath]
) -> dict[Key, dict[str, float]]:
    """What clusterings like each partition say: quantities, as `model` names them.

    partitions: model, partition and k of each.
    stabilities, numbers: both files of `measure_stability`, of each partition that clustering made.
    returns by partition the stability of clusterings that differ from it in k alone, its gap less that of a single
        cluster and the standard error of that, and the agreement of k-means and each Gaussian mixture with its k, where
        it was made by one of these.
    """
    found = {}
    for partition in partitions:
        key = partition["model"], partition["partition"]
        found[key] = {}
        if key not in stabilities:
            continue
        with undamaged(stabilities[key], "does not say how stable types are"):
            stability = read_json(stabilities[key])
            if stability["gap"] is not None:
                found[key] |= {name: stability[name] for name in ("gap", "gap_error")}
            found[key] |= {f"mixture_agreement.{kind}": rand for kind, rand in stability["mixtures"].items()}
        columns = {half: f"{half}_all_agree" for half in HALVES}
        by_k = read_csv(numbers[key], "is not a table of numbers of types", ["k", *columns.values()])
        for row in by_k[by_k["k"] != partition["k"]].to_dict("records"):
            of_k = {f"stability.{row['k']}.{half}": row[column] for half, column in columns.items()}
            found[key] |= {name: value for name, value in of_k.items() if not math.isnan(value)}
    return found


def parents_of(partitions: Iterable[dict], read: dict[Key, Partition]) -> dict[Key, Partition]:
    """The partition of each model's parent, made in the same way on the same task, where there is one."""
    parents = {(it["model"], it["partition"]): (it["parent"], it["partition"]) for it in partitions}
    return {key: read[parent] for key, parent in parents.items() if parent in read}


def families_of(partitions: Iterable[dict], read: dict[Key, Partition]) -> dict[Key, dict[str, Partition]]:
    """Beside each partition of the paper's main model, those made in the same way of all models of its Table 1.

    partitions: model, partition, method, k and published (the model's name in Table 1, or None) of each, in the
        config's order. Of a model's partitions that on the same task is taken, else the first: a fine-tuned model
        is read on its own task, though the paper does not say on which it read its models.
    """
    partitions, families = list(partitions), {}
    for main in partitions:
        if main["published"] != MAIN_MODEL or main["method"] is None:
            continue
        alike = [it for it in partitions if (it["method"], it["k"]) == (main["method"], main["k"]) and it["published"]]
        alike.sort(key=lambda it: (it is not main, it["partition"] != main["partition"]))
        family: dict[str, Partition] = {}
        for it in alike:
            family.setdefault(it["published"], read[it["model"], it["partition"]])
        families[main["model"], main["partition"]] = family
    return families
