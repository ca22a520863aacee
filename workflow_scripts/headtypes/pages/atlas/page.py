"""The atlas of a model as one HTML page that opens from disk, without a network and without other files."""

from collections.abc import Mapping, Sequence
from importlib.resources import files

from headtypes.core.files import StrPath, write_text
from headtypes.pages.rendering import embedded, rendered

_SCRIPTS = ("data", "state", "colours", "tiles", "filters", "maps", "matrix", "svg", "head", "facts")

# Where the page of all results lies, which leads to the others.
PAGES = [("All results", "../index.html"), ("Words on these pages", "../index.html#words")]


def write_page(path: StrPath, data: Mapping, provenance: Mapping, links: Sequence[tuple[str, str]] = ()) -> None:
    """Write the page of `data.gather` whole, with what made it; links: as in `page_of`."""
    write_text(path, page_of(data, provenance, links))


def page_of(data: Mapping, provenance: Mapping, links: Sequence[tuple[str, str]] = (), live: str = "") -> str:
    """The page as HTML: the style and the script of this package, and the data as JSON that is only ever read.

    Its policy allows this one style and this one script, by their digests, and no request.

    links: names of other pages, and their files relative to this one; live: a further script, for a page that a server
        answers, which it alone may ask.
    """
    scripts = [*(asset(f"assets/{name}.js") for name in _SCRIPTS), live, asset("assets/start.js")]
    shown = {name: value for name, value in data.items() if name != "packed"}
    values = {
        "title": data["title"],
        "links": links,
        "live": bool(live),
        "data": embedded(shown),
        "packed": data["packed"],
    }
    return rendered(
        values,
        {"base.html": asset("../base.html"), "page.html": asset("assets/page.html")},
        style=asset("assets/page.css"),
        script=f'(() => {{\n"use strict";\n{"".join(scripts)}}})();\n',
        provenance=provenance,
    )


def asset(name: str) -> str:
    """The text of a file of the page."""
    return files("headtypes.pages.atlas").joinpath(name).read_text(encoding="utf-8")
