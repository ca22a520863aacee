"""A page as one HTML file that needs no other and reaches no network, from the templates beside this module."""

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from headtypes.core.files import StrPath, canonical_json

# What stands before each verdict, so that none is told by its colour alone.
SIGNS = {"holds": "✓", "fails": "✕", "open": "≈", "no verdict": "–"}  # noqa: RUF001
_HERE = Path(__file__).parent


def render(
    template: str, values: Mapping[str, Any], provenance: Mapping, *, styles: Iterable[str], scripts: Iterable[str]
) -> str:
    """Return a page as HTML, in which everything that comes from data is escaped, and only the given scripts may run.

    template, styles, scripts: paths in the folder of this package. values: {name in the template: value}.
    provenance: JSON data on what made the page, which the page holds.
    """
    style, script = ("".join((_HERE / name).read_text("utf-8") for name in names) for names in (styles, scripts))
    blocks = {"trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(autoescape=True, loader=FileSystemLoader(_HERE), undefined=StrictUndefined, **blocks)
    page = environment.get_template(template).render(
        **values,
        style=Markup(style),
        style_hash=_digest(style),
        script=Markup(script),
        script_hash=_digest(script),
        provenance=canonical_json(dict(provenance)),
    )
    return page.lstrip()


def relative(path: StrPath, folder: Path, suffix: str = "") -> str:
    """Return a link from a page in a folder to a path; a `suffix` such as ".html" replaces the path's own suffix."""
    target = Path(path).with_suffix(suffix) if suffix else Path(path)
    return Path(os.path.relpath(target, folder)).as_posix()


def embedded(data: Mapping) -> Markup:
    """Return data as JSON for a script element, in which no text can end the element or begin a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.translate({ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}))


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def counted(verdict: str, number: int) -> str:
    """Return a number of claims and their verdict in words, such as "1 holds" or "2 hold"."""
    return f"{number} {verdict if number == 1 else verdict.removesuffix('s')}"
