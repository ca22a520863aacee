"""Every message on the page about messages is one that the software has."""

import ast
import re

from tests.support.places import ROOT, SCRIPTS

PAGE = (ROOT / "docs/run/troubleshooting.md").read_text(encoding="utf-8")
MESSAGES = re.findall(r"^\| `(.*?)` \| ", PAGE, re.MULTILINE)


def templates() -> list[str]:
    """Every text in the package, as written; what is filled in is a NUL."""
    found = []
    for file in (SCRIPTS / "headtypes").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = (part.value if isinstance(part, ast.Constant) else "\0" for part in node.values)
                found.append("".join(parts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return found


def missing(messages: list[str], texts: list[str]) -> list[str]:
    """Messages whose parts, between what differs, stand in none of the texts in this order."""
    patterns = {message: ".*".join(map(re.escape, re.split(r" ?… ?", message))) for message in messages}
    return [message for message in messages if not any(re.search(patterns[message], text) for text in texts)]


def test_every_message_is_one_of_the_software():
    assert len(MESSAGES) > 20
    assert missing(MESSAGES, templates()) == []


def test_a_message_that_the_software_does_not_have_is_found():
    assert missing(["has no question-answering head, alas", "is … left over from"], templates()) != []
    assert missing(["there is no … suffix; found"], ["x: there is no \0, or suffix; found \0"]) == []
