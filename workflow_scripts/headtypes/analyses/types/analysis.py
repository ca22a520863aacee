"""Types of heads, as an analysis: its results.

Clustering, naming, partitions, stability, confidence, and the choice of a number of types.
"""

from headtypes.analyses.declaration import Analysis
from headtypes.core.results import Result

PARTITION = Result(
    "results/partitions/{model}/{partition}.csv",
    "cluster_heads",
    "the type of each head, and how the types were named",
    of=lambda plan: plan.clustered,
    name="partition",
    section="Heads and types",
    content="for each head: `layer`, `head`, `cluster`, `type`, `silhouette`, `near`, `special`, `far`, `doubtful`",
)
CONFIDENCE = Result(
    "results/confidence/{model}/{partition}.csv",
    "measure_confidence",
    "how certain the type of each head is",
    of=lambda plan: plan.clustered,
    name="confidence",
    section="Heads and types",
    content="for each head: intervals of near, special and far; how often it keeps its type",
)
TYPES = Analysis(
    "types",
    results=(
        PARTITION,
        Result(
            "results/partitions/{model}/{partition}.csv",
            "import_partition",
            "the type of each head, from a file",
            of=lambda plan: plan.imported,
            name="partition",
        ),
        Result(
            "results/partitions/{model}/{partition}.naming.json",
            "cluster_heads",
            "the type of each head, and how the types were named",
            of=lambda plan: plan.clustered,
            name="naming",
            section="Heads and types",
            content="the centroids, their names, and the margin over the second-best assignment",
        ),
        Result(
            "results/stability/{model}/{partition}.json",
            "measure_stability",
            "stability of the types",
            of=lambda plan: plan.clustered,
            name="stability",
            section="Heads and types",
            content="stability of the types, in all readings of the paper, and how many pairs of a head and a sample "
            "are nearest to the head's own cluster",
        ),
        CONFIDENCE,
        Result(
            "results/confidence/{model}/{partition}.json",
            "measure_confidence",
            "how certain the type of each head is",
            of=lambda plan: plan.clustered,
            name="confidence_clusterings",
            section="Heads and types",
            content="how well repeated clusterings agree with the partition",
        ),
        Result(
            "results/confidence/{model}/{partition}.{pdf,png}",
            "plot_confidence",
            "how often each head keeps its type",
            of=lambda plan: plan.clustered,
            section="Heads and types",
            content="how often each head keeps its type, as a figure",
        ),
        Result(
            "results/embedding/{model}/{partition}.csv",
            "plot_partition",
            "the heads in two dimensions, for Figure 2",
            of=lambda plan: plan.partitions.values(),
            name="embedding",
            section="Heads and types",
            content="for each head: `layer`, `head`, and its `x` and `y` in two dimensions (t-SNE), for Figure 2",
        ),
        Result(
            "results/choice/{model}/{task}.csv",
            "choose_clustering",
            "how many types suit the heads",
            of=lambda plan: plan.choices.values(),
            name="choice",
            section="Heads and types",
            content="for each method and number of types (of norms, `{task}` ends in `-norms`): the silhouette "
            "for each number of distance bins; for the configured `clustering.distance_bins` the "
            "gap statistic with its standard error (`gap_error`) "
            "and stability, over halves of pairs for k-means with 3, 4 and 5 alone; `smallest`: the number "
            "of heads in the smallest cluster; `chance`: the percent on which clusterings with such shares "
            "agree by chance",
        ),
        Result(
            "results/choice/{model}/{task}.best.csv",
            "choose_clustering",
            "how many types suit the heads",
            of=lambda plan: plan.choices.values(),
            name="choice_best",
            section="Heads and types",
            content="the number of types that each criterion chooses, for the configured `clustering.distance_bins`; "
            "`heads_kappa`, `samples_kappa`: stability as Cohen's kappa, the pairwise agreement beyond chance as a "
            "share of what could be",
        ),
        Result(
            "results/choice/{model}/{task}.agreement.csv",
            "choose_clustering",
            "how many types suit the heads",
            of=lambda plan: plan.choices.values(),
            name="choice_agreement",
            section="Heads and types",
            content="agreement between methods and between numbers of distance bins, and of k-means with mixtures of "
            "other covariances",
        ),
        Result(
            "results/choice/{model}/{task}.{pdf,png}",
            "plot_choice",
            "how many types suit the heads",
            of=lambda plan: plan.choices.values(),
            section="Heads and types",
            content="these criteria as a figure",
        ),
    ),
)
