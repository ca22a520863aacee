"""The atlas of a model as one HTML page that opens from disk, without a network and without other files."""

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from pathlib import Path

from headtypes.core.files import canonical_json, write_text
from headtypes.pages.rendering import embedded

_SCRIPTS = ("data", "state", "colours", "tiles", "filters", "maps", "matrix", "head", "facts", "whatif", "start")


def write_page(path: str | Path, data: Mapping, provenance: Mapping) -> None:
    """Write the page of `data.gather` whole, with what made it."""
    write_text(path, page_of(data, provenance))


def page_of(data: Mapping, provenance: Mapping) -> str:
    """The page as HTML: the style and the script of this package, and the data as JSON that is only ever read.

    Its policy allows this one style and this one script, by their digests, and no request; whatever a sample holds,
    nothing of it is run or fetched.
    """
    style = _asset("page.css")
    script = f'(() => {{\n"use strict";\n{"".join(_asset(f"{name}.js") for name in _SCRIPTS)}}})();\n'
    shown = {name: value for name, value in data.items() if name != "packed"}
    packed = "\n".join(
        f'<script type="text/plain" id="packed-{index}">{text}</script>' for index, text in enumerate(data["packed"])
    )
    parts = {
        "style-digest": _digest(style),
        "script-digest": _digest(script),
        "title": escape(data["title"]),
        "provenance": escape(canonical_json(dict(provenance))),
        "style": style,
        "data": embedded(shown),
        "packed": packed,
        "script": script,
    }
    # Each part goes where its mark stands in the template, and is not searched for further marks.
    first, *rest = _asset("page.html").split("{{")
    return first + "".join(parts[mark] + text for mark, text in (piece.split("}}", 1) for piece in rest))


def _asset(name: str) -> str:
    return files("headtypes.pages.atlas").joinpath("assets", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
