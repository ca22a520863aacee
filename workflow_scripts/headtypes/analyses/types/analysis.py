"""The analysis of types of heads: its rules and results, and the types that a user's file names."""

import csv
import re
from dataclasses import replace
from functools import partial
from io import StringIO

from headtypes.analyses.declaration import Analysis
from headtypes.analyses.distances.analysis import FEATURES
from headtypes.attention.operations import head_of
from headtypes.core.errors import InputError, one_line
from headtypes.core.files import check_header, separator_of, text_of
from headtypes.core.stage import Given, Other, Plan, Result, stage

_BENCHMARK = "results/partitions/{model}/{partition}.benchmark.tsv"
_FEATURES = Other("features", FEATURES, lambda plan, model, partition: plan.partitions[model, partition])
_FILE = Given("table", lambda plan, model, partition: plan.partitions[model, partition].file)


@stage(calls="analyses.types.figure:run", inputs=(_FEATURES,), benchmark=_BENCHMARK)
def cluster_heads(plan: Plan, model: str, partition: str) -> dict:
    entry, clustering = plan.partitions[model, partition], plan.config.clustering
    # The names of earlier rules stay: another name would be another seed.
    read = entry.task if entry.of == "weights" else f"{entry.task}-{entry.of}"
    return {
        "method": entry.method,
        "k": entry.k,
        "features": clustering.features(entry.of),
        "scale": clustering.scale,
        "restarts": clustering.restarts,
        "seed": plan.seed("cluster_heads", model, partition),
        "stability": {
            "seed": plan.seed("measure_stability", model, partition),
            "numbers_seed": plan.seed("choose_clustering", model, read),
        },
    }


@stage(calls="analyses.types.clustering:run_import", inputs=(_FILE, _FEATURES), benchmark=_BENCHMARK)
def import_partition(plan: Plan, model: str, partition: str) -> dict:
    return plan.config.clustering.features()


_clustered = partial(Result, rule="cluster_heads", of=lambda plan: plan.clustered)
PARTITION = _clustered(
    "results/partitions/{model}/{partition}.csv",
    about="the type of each head, and how the types were named",
    name="partition",
    content="for each head: `layer`, `head`, `cluster`, `type`, `silhouette`, `doubtful`, and shares of the "
    "head's attention: `near`, to the token itself and the nearest bin of distances, `special`, to `[CLS]`, `[SEP]`, "
    "comma and period, `far`, to the rest",
)
NAMING = _clustered(
    "results/partitions/{model}/{partition}.naming.json",
    about="the type of each head, and how the types were named",
    name="naming",
    content="the centroids, their names and doubts about these, and the margin over the second-best assignment",
)
STABILITY = _clustered(
    "results/stability/{model}/{partition}.json",
    about="how stable the types are, and how many there are",
    name="stability",
    content="stability over random halves of `heads`, `samples` and `pairs` of both, in percent: `all_agree`, "
    "`pairwise`, and `by_head`, by layer and head, how many clusterings give the head its type; `own_cluster`: pairs "
    "that are nearest to the head's own cluster; `gaps`: whether heads have gaps between them, "
    "`line`, `paths` (dips in percent) and the `position` of each head on the line; `chosen`: the number of "
    "types that each criterion chooses; `mixtures`: adjusted Rand index of k-means and Gaussian mixtures by their "
    "covariance; `profiles`: near, special and far of the types in each half of the samples",
)
NUMBERS_OF_TYPES = _clustered(
    "results/stability/{model}/{partition}.csv",
    about="criteria of how many types there are",
    name="numbers",
    content="for each number of clusters `k`, by the partition's method: the number of heads in the `smallest` "
    "cluster, the mean `silhouette`, stability in percent (over halves of pairs for k-means with 3 and 5 alone), and "
    "`chance`, the percent on which clusterings with such shares agree by chance",
)
EMBEDDING = Result(
    "results/embedding/{model}/{partition}.csv",
    "plot_partition",
    "the heads in two dimensions, for Figure 2",
    of=lambda plan: plan.partitions.values(),
    content="for each head: `layer`, `head`, and its `x` and `y` in two dimensions (t-SNE), for Figure 2",
)


TYPES = Analysis(
    "types",
    section="Heads and types",
    stages=(cluster_heads, import_partition),
    results=(
        PARTITION,
        replace(
            PARTITION,
            rule="import_partition",
            content="",
            about="the type of each head, from a file",
            of=lambda plan: plan.imported,
        ),
        NAMING,
        STABILITY,
        NUMBERS_OF_TYPES,
        _clustered(
            "results/stability/{model}/{partition}.{pdf,png}",
            about="how many types there are, and how often each head keeps its type",
            content="these criteria, and how often each head keeps its type, as a figure",
        ),
        EMBEDDING,
    ),
)


def types_in_file(file: str) -> set[str]:
    try:
        text = text_of(file)
        separator = separator_of(text.partition("\n")[0])
        rows = csv.reader(StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
        lines = [[cell.strip() for cell in row] for row in rows if row]
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(f"{file} cannot be read as CSV ({one_line(error)}).") from error
    if not lines or "type" not in lines[0]:
        raise InputError(f"{file} has no column type; it needs layer, head and type.")
    check_header(lines[0], file)
    column = lines[0].index("type")
    types = {line[column] for line in lines[1:] if len(line) > column}
    for name in sorted(types):
        # It becomes part of a table, a figure and a condition.
        if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
            raise InputError(f"{file} has the type {name!r}; a type has letters, digits, _ and -.")
        if head_of(name) or name == "all":
            what = "one head" if head_of(name) else "heads of every type"
            raise InputError(f"{file} has the type {name!r}, which stands for {what}; rename it.")
    if not types:
        raise InputError(f"{file} names no type.")
    return types
