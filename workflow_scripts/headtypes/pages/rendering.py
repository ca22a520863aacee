"""A page as one HTML file that needs no other and reaches no network."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from headtypes.core.files import StrPath, canonical_json


def render(values: Mapping[str, Any], sources: Mapping[str, Sequence[StrPath]], provenance: Mapping) -> str:
    """Render a page from files; everything that comes from data is escaped.

    values: of the names in the template; sources: the files of the templates (`html`, the page itself last), of the
        style (`css`) and of the script (`js`).
    """
    templates = {Path(path).name: _read(path) for path in sources["html"]}
    style, script = ("".join(map(_read, sources[kind])) for kind in ("css", "js"))
    return rendered(values, templates, style=style, script=script, provenance=provenance)


def rendered(
    values: Mapping[str, Any], templates: Mapping[str, str], *, style: str, script: str, provenance: Mapping
) -> str:
    """Render a page, the last of some templates by their names.

    The script is the only one that the page's own policy lets run. Names in a template beside those of `values`: style,
    style_hash, script, script_hash, provenance.
    """
    loader = DictLoader(dict(templates))
    environment = Environment(
        autoescape=True, loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    page = environment.get_template(list(templates)[-1]).render(
        **values,
        style=Markup(style),
        style_hash=_digest(style),
        script=Markup(script),
        script_hash=_digest(script),
        provenance=canonical_json(dict(provenance)),
    )
    return page.lstrip()


def embedded(data: Mapping) -> Markup:
    """JSON that can stand in a script element: nothing in it can end the element, or begin a comment in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _read(path: StrPath) -> str:
    return Path(path).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
