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


def test_every_message_is_one_of_the_software():
    """The parts of each, between what differs, stand in one text of the package in this order."""
    assert len(MESSAGES) > 20
    texts = templates()
    patterns = {message: ".*".join(map(re.escape, re.split(r" ?… ?", message))) for message in MESSAGES}
    assert [message for message in MESSAGES if not any(re.search(patterns[message], text) for text in texts)] == []
