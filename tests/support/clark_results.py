"""Made-up results about heads that are as Clark et al. 2019 say, for tests to change."""

import numpy as np

from headtypes.analyses.gradients.results import ATTENDED, Gradients
from headtypes.analyses.surface.results import COLUMNS, Surface
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.published import read_published
from tests.support.places import ROOT

CLARK = ROOT / "reference" / "clark2019.yaml"
LAYERS, HEADS, SEGMENTS = 12, 12, 40
UNIFORM = float(np.log(128))


def head_values() -> dict[str, np.ndarray]:
    """[layer, head] of every column, of a model that bears out every claim; layer means are the paper's own."""
    published = read_published(CLARK, Clark2019).digitised
    values = {name: np.repeat(np.array(means)[:, None], HEADS, axis=1) for name, means in published.by_layer().items()}
    values |= {name: np.full((LAYERS, HEADS), 0.03) for name in ("self", "previous", "next")}
    for layer, head in ((1, 0), (3, 1), (6, 2), (7, 3)):
        values["previous"][layer, head] = 0.6
    for layer, head in ((0, 1), (1, 2), (1, 3), (2, 0), (5, 4)):
        values["next"][layer, head] = 0.7
    # The released figures do not bear out that [CLS] attends as broadly as others in most layers.
    values["entropy_cls"][:-1] = values["entropy"][:-1] + 0.05
    # A few broad heads in the first layer, and as many that look at little.
    values["entropy"][0] += np.repeat([0.7, -0.7], HEADS // 2)
    values["norms.sep"] = 0.1 * values["sep"]
    values["special"] = values["cls"] + values["sep"] + values["punctuation"]
    values["first"] = values["cls"].copy()
    values["peak"] = np.where(values["entropy"] > 3.9, 0.05, 0.4)
    return values


def surface_of(values: dict[str, np.ndarray], segments: int = SEGMENTS, noise: float = 0.004) -> Surface:
    """Values of heads with some noise from segment to segment, which cancels out over the segments."""
    means = np.stack([values[name] for name in COLUMNS], axis=-1)
    drawn = np.random.default_rng(0).normal(0, noise, (segments, *means.shape))
    patterns = means + drawn - drawn.mean(axis=0)
    if np.array_equal(values["first"], values["cls"]):
        patterns[..., COLUMNS.index("first")] = patterns[..., COLUMNS.index("cls")]
    uniform = np.full((segments, len(means)), UNIFORM)
    lengths, ids = np.full(segments, 128, np.int32), [f"s{number}" for number in range(segments)]
    norms = patterns.copy()
    norms[..., COLUMNS.index("sep")] += values["norms.sep"] - values["sep"]
    return Surface(*(each.astype(np.float32) for each in (patterns, uniform)), lengths, ids, norms.astype(np.float32))


def gradients_of(
    ratios: dict[str, float] | None = None, loss: str | None = "masked_words", early: float = 0.9
) -> Gradients:
    """Gradients of every head, larger in deeper layers; those for [SEP] are small. Without a loss there are none.

    early: the ratio for [SEP] in the first four layers.
    """
    by_kind = {"sep": 0.2, "cls": 0.8, "punctuation": 1.5, "other": 1.1, "all": 1.0} | (ratios or {})
    scale = 1e-4 * (1 + np.arange(LAYERS))[:, None, None] * np.ones((1, HEADS, 1))
    values = scale * np.array([by_kind[kind] for kind in ATTENDED])
    values[:4, :, ATTENDED.index("sep")] = early * scale[:4, :, 0]
    if loss is None:
        return Gradients(np.full_like(values, np.nan), None, 0, "has no head for masked words")
    return Gradients(values, loss, 30)


def layers_of(difference: float = -0.06) -> dict[str, float | int | None]:
    """What `projection.layer_test` says of heads whose layers, permuted, make a difference of 0.01 at most."""
    p = 1 / 2000 if difference < -0.01 else 1.0 if difference > 0.01 else 0.2
    ends = {"low": difference - 0.01, "high": difference + 0.01}
    return {"within": 0.3 + difference, "between": 0.3, "difference": difference, **ends, "p": p, "permutations": 1999}
