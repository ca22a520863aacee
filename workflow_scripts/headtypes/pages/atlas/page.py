"""The atlas of a model as one HTML page that opens from disk, without a network and without other files."""

from collections.abc import Mapping, Sequence
from typing import Any

from headtypes.analyses.maps.results import AttentionMaps
from headtypes.core.files import write_text
from headtypes.core.hdf5_files import read_groups
from headtypes.models.records import read_model_record
from headtypes.pages.atlas.data import gather
from headtypes.pages.rendering import embedded, render

_SCRIPTS = ("data", "state", "colours", "tiles", "filters", "maps", "matrix", "svg", "head", "facts")

# Where the page of all results lies, which leads to the others.
PAGES = [("All results", "../index.html"), ("Words on these pages", "../index.html#words")]


def page_of(data: Mapping, provenance: Mapping, links: Sequence[tuple[str, str]] = ()) -> str:
    """Write the page of `data.gather` as HTML, with its provenance: the data are JSON that is only ever read.

    Its policy allows this one style and this one script, by their digests, and no request; the page of `live.Live` may
    ask its server.

    links: names of other pages, and their files relative to this one.
    """
    is_live = "live" in data
    scripts = [f"atlas/assets/{name}.js" for name in _SCRIPTS]
    values = {
        "title": data["title"],
        "links": links,
        "live": is_live,
        "data": embedded({name: value for name, value in data.items() if name != "packed"}),
        "packed": data["packed"],
    }
    return render(
        "atlas/assets/page.html",
        values,
        provenance,
        styles=["atlas/assets/page.css"],
        scripts=[*scripts, *(["atlas/live.js"] if is_live else []), "atlas/assets/start.js"],
    )


def run(inputs: Any, spec: dict, outputs: Any, provenance: dict) -> None:
    maps = [(task, list(read_groups(path, AttentionMaps).values())) for task, path in inputs.maps.items()]
    found = {kind: list(inputs[kind].items()) for kind in spec.pop("kinds")}
    data = gather(read_model_record(inputs.model), maps, found, **spec)
    write_text(outputs.page, page_of(data, provenance, links=PAGES))
