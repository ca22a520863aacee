"""The card of a deposit: what was found, with which verdicts, by what, and what must not be concluded."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from headtypes.deposit.parts import LeftOut, Made
from headtypes.deposit.sources import Source
from headtypes.pages.summary.page import Paper, Summary
from headtypes.pages.summary.verdicts import Judged
from headtypes.papers.claims import join
from headtypes.papers.quantities import NO_VERDICT, VERDICTS
from headtypes.papers.registry import PAPERS


@dataclass(frozen=True)
class Author:
    """Who gives it away; orcid: the address of the person there, if it is known."""

    name: str
    orcid: str | None = None


@dataclass(frozen=True)
class Study:
    """What is said about a deposit.

    title, authors, license: as the user gave them; a license is an SPDX identifier or an address.
    published: the day of publication; run: what was run, in a sentence.
    summary: of the results.
    private: whether it holds texts and weights, too.
    """

    title: str
    authors: Sequence[Author]
    license: str
    published: date
    summary: Summary
    made: Made
    sources: Sequence[Source]
    left_out: Sequence[LeftOut]
    private: bool = False


# What stands in a deposit that is not one, for whoever finds it.
PRIVATE = "Not to be given away: it holds text of corpora and weights of models, for another machine of its authors."


def card(study: Study) -> str:
    """The card as Markdown."""
    return "\n".join(_lines(study)).rstrip("\n") + "\n"


def commits(made: Made) -> str:
    """Which commits made the results, in words."""
    named = [
        f"{commit} ({number} {'result' if number == 1 else 'results'})" if commit else f"no repository ({number})"
        for commit, number in made.commits.items()
    ]
    text = next(iter(made.commits)) or "not from a repository" if len(named) == 1 else ", ".join(named)
    if any(commit and commit.endswith("-dirty") for commit in made.commits):
        text += "; -dirty: with changes that are not in the commit"
    return text


def kinds_left_out(left_out: Sequence[LeftOut]) -> str:
    """What was left out, and how many files of it, in words."""
    counts = Counter(it.why for it in left_out)
    return ", ".join(f"{why} ({number} {'file' if number == 1 else 'files'})" for why, number in sorted(counts.items()))


def _lines(study: Study) -> Iterator[str]:
    summary, made = study.summary, study.made
    yield f"# {study.title}\n"
    if study.private:
        yield f"**{PRIVATE}**\n"
    authors = "; ".join(author.name for author in study.authors)
    yield f"{authors}. {study.published.isoformat()}. Licence of the results: {study.license}.\n"
    yield (
        f"Results of the workflow headtypes: {summary.run} It finds out where the attention heads of Transformer "
        "models look, which types of heads there are, and what a model loses without a type.\n"
    )
    yield "## What was found\n"
    yield from (f"- {_escaped(sentence)}" for sentence in summary.findings)
    yield "\n## What must not be concluded\n"
    yield from (f"- {_escaped(sentence)}" for sentence in summary.cautions)
    yield "\n## Verdicts on the papers' claims\n"
    yield from _verdicts(summary.papers)
    yield "## What made it\n"
    yield from _table(("model or data", "origin"), [(f"{it.kind} {it.name}", str(it)) for it in study.sources])
    yield f"- Commit of the workflow: {commits(made)}"
    yield f"- Seed: {dict(summary.made)['Seed'][0]}"
    versions = (f"{name} {' and '.join(found)}" for name, found in made.packages.items())
    yield f"- Versions: Python {' and '.join(made.python)}, {', '.join(versions)}"
    yield f"- The last result was made on {made.ended.date().isoformat()}.\n"
    yield "## What is here\n"
    yield from _contents(study)


def _verdicts(papers: Sequence[Paper]) -> Iterator[str]:
    judged = [(paper, subject) for paper in papers for subject in paper.judged]
    if not judged:
        yield "No claim was judged.\n"
        return
    yield (
        "A claim holds or fails where the whole interval of its quantity lies on one side of a limit that follows from "
        "the paper's words, and is open where the limit lies inside. Counted are claims that a paper states; in "
        "parentheses, after Holm's correction for the number of claims where that differs; a claim without an interval "
        "is decided by its value, which no correction changes.\n"
    )
    rows = [
        (paper.short, subject.model, subject.other, *(_count(subject, verdict) for verdict in VERDICTS))
        for paper, subject in judged
    ]
    yield from _table(("paper", "model", "on", *VERDICTS), rows)
    for paper in papers:
        for subject in paper.judged[: paper.headline]:
            claims = subject.claims[(subject.claims["basis"] == "stated") & (subject.claims["verdict"] != NO_VERDICT)]
            if len(claims):
                yield f"### {paper.short}: {subject.model}, {subject.other}\n"
                in_order = claims.sort_values("verdict", key=lambda it: it.map(VERDICTS.index), kind="stable")
                yield from _table(("verdict", "claim"), in_order[["verdict", "quantity"]].itertuples(index=False))
    yield (
        "What decides each, and the claims without a verdict with the reason why, is in `comparison.md` of "
        + join(f"`results/{name}`" for name in PAPERS)
        + ", where these are.\n"
    )


def _count(judged: Judged, verdict: str) -> str:
    claims = judged.claims[judged.claims["basis"] == "stated"]
    # A claim without an interval cannot be corrected.
    of_claims = claims["verdict"], claims["verdict_holm"].fillna(claims["verdict"])
    number, corrected = ((column == verdict).sum() for column in of_claims)
    return str(number) if number == corrected else f"{number} ({corrected})"


def _contents(study: Study) -> Iterator[str]:
    yield "- `results`: tables, figures, types of heads, features and exports, laid out as the workflow writes them;"
    yield "  `results/provenance` has a record of what made each one, the left out ones too"
    yield "- `workflow`: the workflow as it made these results, with the configuration of this experiment as"
    yield "  `config.yaml`, and the versions of all packages in `envs`. Its licence is in `workflow/LICENSE`"
    yield "- `ro-crate-metadata.json`: every file for machines, as a Workflow Run RO-Crate"
    yield "- `SHA256SUMS`: to check that nothing has changed: `sha256sum --check SHA256SUMS`"
    yield "- `left_out.csv`: the results that are not given away, each with its SHA-256\n"
    if study.left_out:
        yield (
            f"Left out are {kinds_left_out(study.left_out)}. Weights are large, and texts belong to others. All can be "
            "made again, and compared with `left_out.csv`. The features have ids of samples, but no text.\n"
        )
    yield "To make everything again, install `workflow/envs/requirements.txt` into an environment of Python "
    yield f"{' or '.join(sorted({'.'.join(version.split('.')[:2]) for version in study.made.python}))}, and run:\n"
    yield "```\ncd workflow\nsnakemake --cores 2\n```"
    if any(source.origin.startswith("local files") for source in study.sources):
        yield "\nLocal files must first be put where `workflow/config.yaml` names them, or the paths there be changed."


def _table(head: Sequence[str], rows) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    yield from (f"| {' | '.join(_escaped(str(cell)).replace('|', chr(92) + '|') for cell in row)} |" for row in rows)
    yield ""


def _escaped(text: str) -> str:
    """Text from names and tables, in which Markdown finds no emphasis or HTML."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text).replace("*", r"\*")
