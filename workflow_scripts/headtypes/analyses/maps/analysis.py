"""Whole attention maps of a few short samples, to be looked at, as an analysis: its results."""

from dataclasses import replace

from headtypes.analyses.declaration import Analysis
from headtypes.analyses.distances.analysis import not_texts
from headtypes.core.stage import TEXT, Result

_MAPS = (
    Result(
        "results/maps/{model}/{task}.h5",
        "extract_features",
        "attention maps with their tokens",
        of=not_texts,
        name="maps",
        content="whole attention maps: of one short sample, for Figures 1 and 5",
        withheld=TEXT,
    ),
    Result(
        "results/maps/{model}/{task}.samples.h5",
        "extract_features",
        "attention maps with their tokens",
        of=not_texts,
        name="sample_maps",
        content="whole attention maps of up to 8 samples of up to 48 tokens, for the atlas",
        withheld=TEXT,
    ),
)
_OF_TEXTS = {"rule": "extract_text_features", "of": lambda plan: plan.texts, "content": ""}
MAPS = Analysis("maps", section="Heads and types", results=(*_MAPS, *(replace(maps, **_OF_TEXTS) for maps in _MAPS)))
