"""How the deposit itself is cited, in the Citation File Format."""

import re

import yaml

from headtypes.core.errors import InputError
from headtypes.deposit.card import Author, Study

_DIGITS = r"(?:\d{4}-){3}\d{3}[\dXx]"
_ORCID = rf"(?:(?:https?://)?orcid\.org/)?({_DIGITS})/?"


def author_of(text: str) -> Author:
    """The author that a text such as "Doe, Jane (0000-0002-1825-0097)" names; the ORCID may be left out.

    Raises `InputError` where parentheses hold no ORCID, and where one is outside of them.
    """
    name, orcid = re.fullmatch(rf"(.*?)\s*(?:\({_ORCID}\))?", text.strip()).groups()
    orcid = orcid and orcid.upper()
    if not name or re.search(rf"[()]|{_DIGITS}", name) or not (orcid is None or _is_sound(orcid)):
        raise InputError(
            f"--author: {text} is not a name with an ORCID in parentheses, such as Doe, Jane (0000-0002-1825-0097); "
            "correct the ORCID, or leave it out."
        )
    return Author(name, orcid and f"https://orcid.org/{orcid}")


def _is_sound(orcid: str) -> bool:
    """Whether the last digit is the check digit of the others, by ISO 7064, 11-2; X stands for ten."""
    total, *digits = (10 if digit == "X" else int(digit) for digit in orcid.replace("-", ""))
    for digit in digits:
        total = 2 * total + digit
    return total % 11 == 1


def citation(study: Study) -> str:
    """The text of CITATION.cff; "Family, Given" is a person, any other author an entity."""
    about = {
        "cff-version": "1.2.0",
        "message": "If you use these results, please cite them, and the papers of what you use.",
        "title": study.title,
        "type": "dataset",
        "authors": [_author(author) for author in study.authors],
        "date-released": study.published,
        "references": [
            {
                "type": "software",
                "title": "headtypes: types of attention heads, and what a Transformer does without them",
                "authors": [{"name": "The headtypes authors"}],
                "commit": next(iter(study.made.commits)) or "unknown",
            }
        ],
    }
    key = "license-url" if "://" in study.license else "license"
    return yaml.safe_dump(about | {key: study.license}, sort_keys=False, allow_unicode=True, width=120)


def _author(author: Author) -> dict[str, str]:
    family, comma, given = author.name.partition(",")
    named = {"family-names": family.strip(), "given-names": given.strip()} if comma else {"name": author.name}
    return named | ({"orcid": author.orcid} if author.orcid else {})
