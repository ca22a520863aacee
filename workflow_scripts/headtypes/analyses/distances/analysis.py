"""Distance features and attention maps, as analyses: the two rules that read samples, and texts for more analyses."""

from dataclasses import replace
from functools import partial

from headtypes.analyses.declaration import Analysis, not_texts, samples_of
from headtypes.core.stage import TEXT, Plan, Result, stage
from headtypes.data.stage import SAMPLES
from headtypes.models.stage import RECORD


@stage("forward", reads="samples", calls="analyses.distances.measure:run", inputs=(RECORD, SAMPLES))
def extract_features(plan: Plan, model: str, task: str) -> dict:
    norms = {"norms": True} if "norms" in plan.config.divided_by(task) else {}
    return {**samples_of(plan, task), **norms}


@stage("divergence", reads="samples", calls="analyses.readings:run", inputs=(RECORD, SAMPLES))
def extract_text_features(plan: Plan, model: str, task: str) -> dict:
    return extract_features.spec(plan, model, task)


FEATURES = Result(
    "results/features/{model}/{task}.h5",
    "extract_features",
    "distance features of every sample",
    of=not_texts,
    name="features",
    content="`distance` float32 [sample, layer, head, 69]: 64 distance bins, self, cls, sep, comma, period; "
    "`first`, where no sample has a `[CLS]`: the part of each of these that goes to the [first "
    "token](../understand/method.md#the-first-token-of-decoders); `norms`, `norms_first`, where norms are read: "
    "the same of [norms](../understand/method.md#norms); `length`, `truncated` and "
    "`sample_id` of each sample",
)
# The same files for tasks of text, which another rule writes.
_OF_TEXTS = {"rule": "extract_text_features", "of": lambda plan: plan.texts, "content": ""}
DISTANCES = Analysis(
    "distances",
    section="Heads and types",
    stages=(extract_features, extract_text_features),
    results=(FEATURES, replace(FEATURES, **_OF_TEXTS)),
)
_mapped = partial(
    Result, rule="extract_features", about="attention maps with their tokens", of=not_texts, withheld=TEXT
)
SHORT_SAMPLE = _mapped(
    "results/maps/{model}/{task}.h5",
    name="maps",
    content="whole attention maps: of one short sample, for Figures 1 and 5",
)
FEW_SAMPLES = _mapped(
    "results/maps/{model}/{task}.samples.h5",
    name="sample_maps",
    content="whole attention maps of up to 8 samples of up to 48 tokens, for the atlas",
)
_MAPS = (SHORT_SAMPLE, FEW_SAMPLES)
MAPS = Analysis("maps", section="Heads and types", results=(*_MAPS, *(replace(maps, **_OF_TEXTS) for maps in _MAPS)))
