"""What the page of all results says; its gallery shows figures that lie beside it."""

from collections.abc import Sequence
from dataclasses import dataclass

from headtypes.core.tables import Shown
from headtypes.pages.summary.answers import Answers
from headtypes.pages.summary.pictures import Picture
from headtypes.pages.summary.verdicts import Judged
from headtypes.pages.summary.words import WORDS, Word


@dataclass(frozen=True)
class Paper:
    """What the page has of one paper; judged: by subject, the one with the most claims that have a verdict first.

    headline: on how many of the subjects, from the first, the verdicts stand beside the findings.
    """

    id: str
    short: str
    name: str
    url: str
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
    papers; apart: figures of what sets types apart; ledger: how often each claim holds, if any is judged.
    atlases: name and file of the page of each model; words: that the pages use, with their meanings.
    files: what there is and where, relative to the page; made: facts about the run, each a name and lines.
    """

    title: str
    run: str
    findings: Sequence[str]
    papers: Sequence[Paper]
    answers: Sequence[Answers] = ()
    cautions: Sequence[str] = ()
    apart: Sequence[Picture] = ()
    ledger: Sequence[Shown] = ()
    atlases: Sequence[tuple[str, str]] = ()
    words: Sequence[Word] = WORDS
    files: Sequence[tuple[str, Sequence[str]]] = ()
    made: Sequence[tuple[str, Sequence[str]]] = ()
