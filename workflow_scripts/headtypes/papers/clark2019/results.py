"""Results on disk, from which the quantities of the comparison with the paper are collected."""

from collections.abc import Mapping
from pathlib import Path

from headtypes.analyses.divergence.results import read_plane_fit
from headtypes.analyses.gradients.results import read_gradients
from headtypes.analyses.surface.results import read_surface
from headtypes.papers.clark2019.published import Clark2019
from headtypes.papers.clark2019.quantities import Key, collect_quantities
from headtypes.papers.quantities import Quantities


def collect_all(
    surfaces: Mapping[Key, str | Path],
    gradients: Mapping[Key, str | Path],
    fits: Mapping[Key, str | Path],
    published: Clark2019,
    *,
    seed: int,
) -> dict[Key, Quantities]:
    """What is known of every model on every task of text: the quantities of each, in the order of the surface patterns.

    surfaces, gradients, fits: files by model and task; of gradients there may be fewer. fits: what `project_heads` says
        of the plane and of the layers.
    seed: of the segments that are drawn for intervals; subjects with equally many segments draw the same ones.
    """
    return {
        key: collect_quantities(
            read_surface(path),
            read_gradients(gradients[key]) if key in gradients else None,
            read_plane_fit(fits[key])["layers"],
            published,
            seed=seed,
        )
        for key, path in surfaces.items()
    }
