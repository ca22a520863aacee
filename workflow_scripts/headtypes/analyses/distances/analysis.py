"""Distance features, as an analysis: its results.

How far, and at which special tokens, a head looks.
"""

from headtypes.analyses.declaration import Analysis
from headtypes.core.results import Result

FEATURES = Result(
    "results/features/{model}/{task}.h5",
    "extract_features",
    "distance features of every sample",
    of=lambda plan: plan.features,
    name="features",
    section="Heads and types",
    content="`distance` float32 [sample, layer, head, 69]: 64 distance bins, self, cls, sep, comma, period; "
    "`first`, where no sample has a `[CLS]`: the part of each of these that goes to the [first "
    "token](../understand/method.md#the-first-token-of-decoders); `norms`, `norms_first`, where norms are read: "
    "the same of [norms](../understand/method.md#norms); `length`, `truncated` and "
    "`sample_id` of each sample",
)
DISTANCES = Analysis(
    "distances",
    results=(
        FEATURES,
        Result(
            "results/shards/features/{model}/{task}/{shard}-of-{shards}.h5",
            "extract_shard",
            "a part of the distance features",
            name="features_shard",
        ),
    ),
)
