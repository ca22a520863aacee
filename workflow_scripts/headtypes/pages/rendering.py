"""A page as one HTML file that needs no other and reaches no network."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from headtypes.core.files import canonical_json
from headtypes.pages.summary.verdicts import counted, sign_of
from headtypes.papers.quantities import VERDICTS


def render(values: Mapping[str, Any], sources: Mapping[str, Sequence[str | Path]], provenance: dict) -> str:
    """Render a page; everything that comes from data is escaped.

    values: of the names in the template; sources: the files of the template (`html`), of the style (`css`) and of the
        script (`js`), which is the only one that the page's own policy lets run; those of a kind stand one after the
        other.
    """
    text = {kind: "".join(Path(path).read_text(encoding="utf-8") for path in paths) for kind, paths in sources.items()}
    digest = base64.b64encode(hashlib.sha256(text["js"].encode()).digest()).decode()
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page = environment.from_string(text["html"]).render(
        **values,
        style=Markup(text["css"]),
        script=Markup(text["js"]),
        script_hash=digest,
        signs={name: sign_of(name) for name in VERDICTS},
        counted=counted,
        provenance=canonical_json(provenance),
    )
    return page.lstrip()


def embedded(data: Mapping) -> str:
    """JSON that can stand in a script element: nothing in it can end the element, or begin a comment in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
