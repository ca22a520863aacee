"""How the deposit itself is cited, in the Citation File Format."""

import yaml

from headtypes.deposit.card import Author, Study


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
