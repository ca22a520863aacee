"""What the page of all results says; its gallery shows figures that lie beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from headtypes.core.tables import Shown
from headtypes.pages.summary.answers import Answers
from headtypes.pages.summary.pictures import Picture
from headtypes.pages.summary.verdicts import Judged


class Word(NamedTuple):
    """A word and its meaning; icon: of a type, what a map of such a head looks like."""

    word: str
    meaning: str
    icon: str = ""


WORDS = (
    Word("dense", "Heads that look at many tokens, near and far.", "dense"),
    Word("diagonal", "Heads that look at the token itself and at its neighbours.", "diagonal"),
    Word("vertical", "Heads that look at a few tokens from everywhere: [CLS], [SEP], commas and periods.", "vertical"),
    Word("dense_vertical", "Heads that do both: far tokens and special ones.", "dense_vertical"),
    Word("type-1, type-2", "Types of another number of clusters than four, by rising attention to special tokens."),
    Word("doubtful, ?", "The name of a type that does not fit what its heads look at."),
    Word("head 3-8", "The eighth head of the third layer."),
    Word(
        "qa-kmeans-k4",
        "A partition, that is a division of a model's heads: by what they look at on the task qa, by k-means, into "
        "four types. With norms in its name, by attention times the length of what is handed over.",
    ),
    Word(
        "agreement",
        "On how many heads clusterings of random halves (of heads, inputs, or pairs) agree; chance alone gives some.",
    ),
    Word("silhouette", "How much nearer a head is to its own type than to the next one, from -1 to 1."),
    Word("EM, F1", "Answers that match exactly, and the overlap of their words with the right ones, in percent."),
    Word("drop", "What leaving heads out costs: the score of the whole model less that without them, in points."),
    Word(
        "random heads",
        "As many heads of the same layers, drawn at random from all of these: what any heads there would cost.",
    ),
    Word(
        "95 % interval",
        "Of such ranges, each from other inputs of the kind, 95 in 100 hold the true value; in brackets, or on a "
        "smaller line.",
    ),
    Word("FDR", "Of the drops with an FDR below 0.05, at most 5 % are none on average (false discovery rate)."),
    Word("p, corrected", "How often chance alone gives as much; corrected for the number of comparisons (Holm)."),
    Word(
        "holds, fails, open",
        "Whether a claim of a paper is true of this checkpoint; open where that cannot be told from these inputs, or "
        "depends on how the paper is read.",
    ),
)


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
