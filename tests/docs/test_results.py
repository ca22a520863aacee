"""What the page of results says is in the files beside it: rows, numbers, and the verdicts that sentences rest on."""

import csv
import re

import pytest

from tests.support.places import ROOT

PAGE = ROOT / "docs/understand/results.md"
# The verdicts that a paragraph with this beginning may name.
VERDICTS = {
    "What agrees with the paper": {"holds"},
    "What does not agree": {"fails"},
    "What cannot be said": {"open", "no verdict"},
}


def sections() -> dict[str, str]:
    """The page's text by the headings of its second level."""
    _, *parts = re.split(r"^## (.*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def files(section: str, suffix: str) -> list:
    """The files beside the page to which a section links, or which bear the name of one that it links to."""
    linked = [PAGE.parent / link for link in re.findall(r"\((results/[^)#]*)\)", section)]
    return [path.with_suffix(suffix) for path in linked if path.with_suffix(suffix).is_file()]


@pytest.mark.parametrize("name", sections())
def test_every_row_of_a_table_stands_in_a_file_that_the_section_links_to(name):
    section = sections()[name]
    # Not the headers, which are above a line of dashes.
    rows = [row for row in re.findall(r"^\|.*$(?!\n\| -)", section, re.MULTILINE) if not row.startswith("| -")]
    files_text = "\n".join(path.read_text(encoding="utf-8") for path in files(section, ".md"))
    assert [row for row in rows if row not in files_text.splitlines()] == []


# A number that was measured: it has decimals, or a unit. Not a part of a name ("3-9") or of a version.
MEASURED = re.compile(r"(?<![\w.,-])(\d*\.\d+|[\d,]+(?=\s(?:%|points|nats)))(?![\w-]|\.\d)")
# How the run was made: no result.
SETTINGS = {"95"}


def sentences(section: str) -> str:
    """A section without its commands, tables, links, headings, and sentences on time."""
    for left_out in (
        r"```.*?```",
        r"^\|.*?$",
        r"^#.*?$",
        r"!?\[[^\]]*\]\([^)]*\)",
        r"`[^`]*`",
        r"[^.]*processor time.*?\.\s",
    ):
        section = re.sub(left_out, "", section, flags=re.MULTILINE | re.DOTALL)
    return section


def values(section: str) -> list[float]:
    """All numbers in the CSV and Markdown files of a section, without their sign."""
    linked = [*files(section, ".csv"), *files(section, ".md")]
    # A comma between digits is one of thousands in Markdown and ends a cell in CSV.
    texts = [re.sub(r"(?<=\d),(?=\d{3}\b)", "" if path.suffix == ".md" else ",", path.read_text()) for path in linked]
    return [float(found) for text in texts for found in re.findall(r"\d*\.?\d+(?:e-?\d+)?", text)]


@pytest.mark.parametrize("name", sections())
def test_numbers_in_sentences_are_values_of_a_file_that_the_section_links_to(name):
    section = sections()[name]
    known = values(section)
    measured = set(MEASURED.findall(sentences(section))) - SETTINGS
    assert measured

    def stands(number: str) -> bool:
        places = len(number.partition(".")[2])
        return any(f"{value:.{places}f}" == f"{float(number.replace(',', '')):.{places}f}" for value in known)

    assert {number for number in measured if not stands(number)} == set()


def verdicts_of(section: str) -> dict[str, str]:
    """The verdicts that a section speaks of: those of the model about which most can be decided, on all its tasks."""
    by_model: dict[tuple, dict[str, str]] = {}
    for path in files(section, ".csv"):
        with open(path, encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows):
                if row.get("kind") in ("claim", "claim over models"):
                    # Each claim is about one kind of task, and the runs have one task of a kind.
                    of_model = by_model.setdefault((path, row["model"], row.get("partition")), {})
                    assert row["id"] not in of_model
                    of_model[row["id"]] = row["verdict"]
    decided = {key: sum(verdict != "no verdict" for verdict in found.values()) for key, found in by_model.items()}
    return by_model[max(decided, key=decided.__getitem__)] if decided else {}


def test_sentences_that_name_a_claim_say_what_its_verdict_is():
    named = 0
    for section in sections().values():
        verdicts = verdicts_of(section)
        for beginning, allowed in VERDICTS.items():
            for paragraph in re.findall(rf"\*\*{re.escape(beginning)}\.?\*\*(.*?)\n\n", section, re.DOTALL):
                claims = re.findall(r"`([a-z][a-z0-9_]*(?:-[a-z0-9_]+)+)`", paragraph)
                assert {claim: verdicts.get(claim) for claim in claims if verdicts.get(claim) not in allowed} == {}
                named += len(claims)
    assert named
