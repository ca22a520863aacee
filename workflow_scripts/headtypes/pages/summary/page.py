"""The page of all results, as one HTML file that reaches no network; its gallery shows figures that lie beside it."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from headtypes.core.files import canonical_json
from headtypes.core.tables import Shown
from headtypes.pages.summary.answers import Answers
from headtypes.pages.summary.pictures import Picture
from headtypes.pages.summary.verdicts import Judged, counted, sign_of
from headtypes.papers.quantities import VERDICTS


@dataclass(frozen=True)
class Paper:
    """What the page has of one paper; judged: by subject, the one with the most decided claims first.

    headline: on how many of the subjects, from the first, the verdicts stand beside the findings.
    """

    id: str
    short: str
    name: str
    judged: Sequence[Judged] = ()
    tables: Sequence[Shown] = ()
    pictures: Sequence[Picture] = ()
    headline: int = 1


@dataclass(frozen=True)
class Summary:
    """What the page says, in the order in which it does.

    title, run: of the page, and what was run, in a sentence; findings: sentences, the first one set larger.
    answers: of each partition, of which the first is shown until another is chosen; cautions: what must not be
        concluded, in sentences.
    papers; both: figures that bring them together; atlases: name and file of the page of each model.
    files: what there is and where, relative to the page; made: facts about the run, each a name and lines.
    """

    title: str
    run: str
    findings: Sequence[str]
    papers: Sequence[Paper]
    answers: Sequence[Answers] = ()
    cautions: Sequence[str] = ()
    both: Sequence[Picture] = ()
    atlases: Sequence[tuple[str, str]] = ()
    files: Sequence[tuple[str, Sequence[str]]] = ()
    made: Sequence[tuple[str, Sequence[str]]] = field(default_factory=tuple)


def summary_page(summary: Summary, sources: Mapping[str, str | Path], provenance: dict) -> str:
    """Render the page; everything that comes from data is escaped.

    sources: files of the template (`html`), the style (`css`) and the script (`js`), which is the only one that the
        page's own policy lets run.
    """
    text = {name: Path(path).read_text(encoding="utf-8") for name, path in sources.items()}
    script_hash = base64.b64encode(hashlib.sha256(text["js"].encode()).digest()).decode()
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page = environment.from_string(text["html"]).render(
        **vars(summary),
        style=Markup(text["css"]),
        script=Markup(text["js"]),
        script_hash=script_hash,
        signs={name: sign_of(name) for name in VERDICTS},
        counted=counted,
        provenance=canonical_json(provenance),
    )
    return page.lstrip()
